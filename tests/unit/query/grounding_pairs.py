"""Sources with claims that they do and do not support, written by hand.

Each block: the source; claims after "+" are true by it, claims after "-" are not (a number, unit,
date, negation, quantifier, bound, name or role was changed).
"""

from __future__ import annotations

BLOCKS = """
Backups run every night at 02:00 and are kept for 30 days.
+ Backups are kept for 30 days.
+ Backups run every night.
+ Each night at 02:00 a backup runs.
- Backups are kept for 13 days.
- Backups are kept for 30 weeks.
- Backups run every night at 20:00.
- Backups are not kept for 30 days.

Only administrators can delete a namespace.
+ Administrators can delete a namespace.
+ A namespace can only be deleted by administrators.
- Administrators cannot delete a namespace.
- Only administrators can create a namespace.

The warranty covers defects for two years but does not cover damage by water.
+ The warranty covers defects for 2 years.
+ Damage by water is not covered by the warranty.
- The warranty covers damage by water.
- The warranty covers defects for three years.

The landlord must repair the heating within 5 working days after the tenant reports the fault.
+ The landlord must repair the heating within 5 working days.
+ After the tenant reports the fault, the landlord has to repair the heating within 5 days.
- The tenant must repair the heating within 5 working days.
- The landlord must repair the heating within 15 working days.
- The landlord must repair the heating before the tenant reports the fault.

Alice Moreno manages the Lisbon office, and Tom Becker manages the Oslo office.
+ Alice Moreno manages the Lisbon office.
+ The Oslo office is managed by Tom Becker.
- Alice Moreno manages the Madrid office.
- Peter Becker manages the Oslo office.

The limit is at most 500 requests per minute for each key.
+ Each key is limited to 500 requests per minute.
+ No more than 500 requests per minute are allowed for each key.
- The limit is at least 500 requests per minute for each key.
- The limit is 500 requests per hour for each key.
- The limit is at most 5000 requests per minute for each key.

Membership costs $1,200 a year and can be cancelled until 30 September 2024.
+ Membership costs 1200 dollars a year.
+ It can be cancelled until September 30, 2024.
- Membership costs $2,100 a year.
- Membership costs €1,200 a year.
- Membership can be cancelled until 30 November 2024.
- Membership can be cancelled after 30 September 2024.
- Membership costs $1,200 a month.

The server encrypts all messages before it stores them on disk.
+ All messages are encrypted before they are stored on disk.
+ The server encrypts messages before storing them.
- The server decrypts all messages before it stores them on disk.
- The server encrypts all messages after it stores them on disk.
- The client encrypts all messages before it stores them on disk.
- The server never encrypts messages before it stores them on disk.

Some users reported that the update increased battery life.
+ Some users reported increased battery life.
- All users reported that the update increased battery life.
- Some users reported that the update decreased battery life.

The bank pays the broker a fee of 0.5 % for every trade.
+ The bank pays a fee of 0.5% to the broker.
+ The broker is paid a fee of 0.5 percent by the bank for every trade.
- The broker pays the bank a fee of 0.5 % for every trade.
- The bank pays the broker a fee of 5 % for every trade.

Passwords must have a minimum of 12 characters and expire after 90 days.
+ Passwords must have at least 12 characters.
+ Passwords expire after 90 days.
- Passwords must have a maximum of 12 characters.
- Passwords never expire.
- Passwords must have a minimum of 21 characters.

Employees may work from home on three days a week.
+ Employees may work from home three days a week.
+ Working from home is possible on 3 days a week.
- Employees must work from home on three days a week.
- Employees may not work from home.
- Employees may work from home on four days a week.

The drug inhibits the growth of tumours in mice at a dose of 20 mg.
+ The drug inhibits tumour growth in mice.
+ At a dose of 20 mg the drug inhibits the growth of tumours.
- The drug promotes the growth of tumours in mice.
- The drug inhibits the growth of tumours in mice at a dose of 20 g.
- The drug inhibits the growth of tumours in dogs.

PostgreSQL 18 supports asynchronous reads; earlier versions do not.
+ PostgreSQL 18 supports asynchronous reads.
- PostgreSQL 16 supports asynchronous reads.
- PostgreSQL 18 does not support asynchronous reads.
- MySQL 18 supports asynchronous reads.

The museum is open from Tuesday to Sunday and closed on Mondays.
+ The museum is closed on Mondays.
+ On Mondays the museum is closed.
- The museum is open on Mondays.

The flight leaves Berlin at 7:45 and arrives in Rome at 9:50.
+ The flight arrives in Rome at 9:50.
+ The flight leaves Berlin at 7:45.
- The flight arrives in Rome at 9:05.
- The flight leaves Rome at 7:45 and arrives in Berlin at 9:50.

Files larger than 25 MB are rejected with error code 413.
+ Files larger than 25 MB are rejected.
+ Files over 25 MB are rejected with code 413.
- Files smaller than 25 MB are rejected.
- Files larger than 25 GB are rejected.
- Files larger than 25 MB are accepted.
- Files larger than 25 MB are rejected with error code 431.

The committee did not approve the budget for 2026.
+ The committee did not approve the budget.
+ The budget for 2026 was not approved by the committee.
- The committee approved the budget for 2026.
- The committee did not approve the budget for 2025.

The library lends books for four weeks without a fee.
+ Books are lent for 4 weeks.
+ The library lends books without a fee.
- The library lends books for four weeks with a fee.
- The library lends books for four days without a fee.

Use of the lift is prohibited in case of fire.
+ In case of fire the use of the lift is prohibited.
- Use of the lift is permitted in case of fire.
- Use of the lift is not prohibited in case of fire.

Der Lieferant zahlt die Rücksendung innerhalb von 14 Tagen.
+ Der Lieferant zahlt die Rücksendung innerhalb von 14 Tagen.
- Der Lieferant zahlt die Rücksendung nicht innerhalb von 14 Tagen.
- Der Lieferant zahlt die Rücksendung innerhalb von 41 Tagen.
- Der Lieferant zahlt die Rücksendung innerhalb von 14 Wochen.

Le fournisseur paie le retour sous 14 jours.
+ Le fournisseur paie le retour sous 14 jours.
- Le fournisseur ne paie pas le retour sous 14 jours.
- Le fournisseur paie le retour sous 40 jours.

The café's ﬁrst oﬃce opened in Zürich in 1998.
+ The cafe's first office opened in Zurich in 1998.
- The cafe's first office opened in Geneva in 1998.
- The cafe's first office opened in Zurich in 1989.
- The cafe's first office closed in Zurich in 1998.

Version 2.4.1 fixes a memory leak that version 2.4.0 introduced.
+ Version 2.4.1 fixes a memory leak.
+ The memory leak was introduced by version 2.4.0.
- Version 2.4.2 fixes a memory leak.

Most patients recovered within a week, and none of them needed surgery.
+ Most patients recovered within a week.
+ None of the patients needed surgery.
- All patients recovered within a week.
- Most patients recovered within a month.

Anna Bauer leads sales. Karl Bauer leads support.
+ Anna Bauer leads sales.
+ Karl Bauer leads support.
- Karl Bauer leads sales.
- Anna Bauer leads support.
- Karl Bauer leads sales and Anna Bauer leads support.

John Smith wrote the report, and Mary Smith reviewed it.
+ John Smith wrote the report.
- Mary Smith wrote the report.
- Mary Smith wrote the report, and John Smith reviewed it.

Paris is the capital of France, and Berlin is the capital of Germany.
+ Berlin is the capital of Germany.
- Paris is the capital of Germany.

Anna and Karl lead sales. The server that stores the daily backups rotates keys.
+ Anna leads sales.
+ The server rotates keys.

The procedure is legal and reversible. The account is active.
+ The procedure is not illegal.
+ The account is not inactive.
- The procedure is illegal and reversible.
- The account is inactive.

The file holds at least 10 entries. The queue holds more than 5 jobs.
+ The file holds 10 or more entries.
+ The queue holds at least 5 jobs.
- The file holds exactly 10 entries.
- The file holds more than 10 entries.
- The queue holds exactly 5 jobs.

The city has 92 schools and 1,234,567 inhabitants.
+ The city has about 90 schools.
+ The city has roughly 1.2 million inhabitants.
+ The city has 1.23 million inhabitants.
+ The city has 1 234 567 inhabitants.
+ The city has 12,34,567 inhabitants.
- The city has 90 schools.
- The city has about 80 schools.
- The city has 1.3 million inhabitants.
- The city has 1 234 576 inhabitants.

The contract began on 3 March 2025.
+ The contract began on 3rd March, 2025.
- The contract began on 4th March, 2025.

该市有3万居民。
+ 该市有30000居民。
- 该市有3000居民。

Der Vertrag beginnt am 3. März 2025 und endet nie.
+ Der Vertrag beginnt am 3. März 2025.
- Der Vertrag beginnt am 4. März 2025.
- Der Vertrag beginnt am 3. Mai 2025.
- Der Vertrag beginnt nicht am 3. März 2025.

El contrato empieza el 3 de marzo de 2025.
+ El contrato empieza el 3 de marzo de 2025.
- El contrato empieza el 4 de marzo de 2025.
- El contrato empieza el 3 de mayo de 2025.

Le contrat commence le 3 mars 2025.
+ Le contrat commence le 3 mars 2025.
- Le contrat commence le 3 mai 2025.

Half of the users left.
+ Half of the users left.
- All of the users left.
- Every user left.

The speed is 100 Mbit/s and the temperature was -5 °C.
+ The speed is 100 Mbit/s.
+ The temperature was minus 5 °C.
- The speed is 100 MB/s.
- The temperature was 5 °C.
"""


#: Written after the checks were, to see how far they carry. At first sight 36 of 40 changed claims
#: were caught with 1 false alarm in 26 true ones.
HELD_OUT = """
The contract ends on 31 December 2026 unless either party gives notice three months before.
+ The contract ends on 31 December 2026.
+ Either party can give notice three months before the contract ends.
- The contract ends on 31 January 2026.
- The contract ends on 31 December 2062.
- Either party can give notice six months before the contract ends.

Children under 6 travel free; everyone else pays 4.80 EUR for a single ticket.
+ Children under 6 travel free.
+ A single ticket costs 4.80 EUR.
- Children under 16 travel free.
- Children over 6 travel free.
- A single ticket costs 8.40 EUR.
- A single ticket costs 4.80 GBP.

The scheduler retries a failed job up to five times and then moves it to the dead letter queue.
+ A failed job is retried up to five times.
+ After five retries the scheduler moves a failed job to the dead letter queue.
- A failed job is retried up to fifty times.
- The scheduler does not retry a failed job.
- A failed job is retried at least five times.

Nora Lind wrote the report that Omar Haddad reviewed in March 2023.
+ Nora Lind wrote the report.
+ Omar Haddad reviewed the report in March 2023.
- Omar Haddad wrote the report that Nora Lind reviewed.
- Omar Haddad reviewed the report in May 2023.
- Nora Berg wrote the report.

Goods that were made to order cannot be returned.
+ Goods made to order cannot be returned.
+ It is not possible to return goods that were made to order.
- Goods made to order can be returned.
- Goods that were not made to order cannot be returned.

The vaccine is given in two doses at least 28 days apart.
+ The vaccine is given in two doses.
+ The two doses are given at least 28 days apart.
- The vaccine is given in three doses.
- The two doses are given at most 28 days apart.
- The two doses are given at least 28 hours apart.

The engine weighs 180 kg and delivers 75 kW at 3,000 revolutions per minute.
+ The engine weighs 180 kg.
+ The engine delivers 75 kW at 3000 revolutions per minute.
- The engine weighs 810 kg.
- The engine weighs 180 g.
- The engine delivers 75 kW at 300 revolutions per minute.

Many birds of the island migrate south in autumn.
+ Many birds of the island migrate south in autumn.
+ In autumn many of the island's birds migrate south.
- All birds of the island migrate south in autumn.
- Many birds of the island migrate north in autumn.
- Many birds of the island never migrate south in autumn.

The function returns an empty list when no row matches and raises ValueError for a negative limit.
+ The function returns an empty list when no row matches.
+ For a negative limit the function raises ValueError.
- The function returns an empty list for a negative limit and raises ValueError when no row matches.
- The function raises KeyError for a negative limit.
- The function never returns an empty list.

The city council rejected the plan to close the swimming pool.
+ The city council rejected the plan to close the pool.
+ The plan to close the swimming pool was rejected by the city council.
- The city council accepted the plan to close the swimming pool.
- The city council rejected the plan to open the swimming pool.

Data is replicated from the primary to the standby every 10 seconds.
+ Data is replicated every 10 seconds.
+ Every 10 seconds data is replicated from the primary to the standby.
- Data is replicated from the standby to the primary every 10 seconds.
- Data is replicated every 10 minutes.

Dogs are welcome in the garden but not in the dining room.
+ Dogs are welcome in the garden.
+ Dogs are not welcome in the dining room.
- Dogs are welcome in the dining room.
- Dogs are not welcome in the garden.

Smoking increases the risk of stroke, while exercise lowers it.
+ Smoking increases the risk of stroke.
- Smoking decreases the risk of stroke.
- Smoking does not increase the risk of stroke.
- Exercise increases the risk of stroke.

Refunds above 100 EUR need the approval of a manager.
+ Refunds over 100 EUR need a manager's approval.
- Refunds below 100 EUR need the approval of a manager.
- Refunds above 100 EUR do not need the approval of a manager.
- Refunds above 100 EUR need the approval of a lawyer.
- Refunds above 1000 EUR need the approval of a manager.
"""


def pairs_of(blocks: str) -> list[tuple[str, str, bool]]:
    """(source, claim, whether the source supports the claim) of a text like BLOCKS."""
    found: list[tuple[str, str, bool]] = []
    for block in blocks.strip().split("\n\n"):
        source, *claims = block.split("\n")
        found.extend((source, claim[2:], claim[0] == "+") for claim in claims)
    return found
