"""Units with their sizes, spelled numbers, and what multiplies a number."""

from __future__ import annotations


def _table(text: str) -> dict[str, tuple[str, float]]:
    units = {}
    for line in text.strip().splitlines():
        dimension, factor, names = line.split(maxsplit=2)
        units.update({name: (dimension, float(factor)) for name in names.split()})
    return units


#: Name of a unit to its dimension and its size in the base unit.
UNITS = _table("""
time 1e-6 us µs μs microsecond microseconds
time 1e-3 ms millisecond milliseconds
time 1 秒 秒钟 초
time 60 分 分钟 分鐘 분
time 3600 小时 小時 时间 時間 시간
time 86400 天 日 일
time 604800 周 週 星期 週間 주
time 2629800 个月 個月 ヶ月 か月 月 개월
time 31557600 年 년
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundos
time 60 min mins minute minutes minuten minutos
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas
time 86400 d day days tag tage tagen jour jours dia dias
time 604800 week weeks woche wochen semaine semaines semana semanas
time 2629800 month months monat monate monaten mois mes meses
time 31557600 y yr yrs year years jahr jahre jahren an ans annee annees ano anos
data 1 byte bytes
data 1e3 kb kilobyte kilobytes
data 1e6 mb megabyte megabytes
data 1e9 gb gigabyte gigabytes
data 1e12 tb terabyte terabytes
data 1024 kib
data 1048576 mib
data 1073741824 gib
bits 1e3 kbit kbits kbps
bits 1e6 mbit mbits mbps
bits 1e9 gbit gbits gbps
length 1e-9 nm
length 1e-3 mm millimeter millimeters millimetres
length 1e-2 cm centimeter centimeters centimetres
length 1 m meter meters metre metres
length 1e3 km kilometer kilometers kilometre kilometres
length 0.0254 inch inches
length 0.3048 ft feet foot
length 1609.344 mile miles
mass 1e-9 µg μg mcg
mass 1e-6 mg milligram milligrams
mass 1e-3 g gram grams
mass 1 kg kilogram kilograms kilo kilos
mass 1e3 ton tons tonne tonnes
mass 0.45359237 lb lbs pound-mass
volume 1e-3 ml milliliter milliliters millilitres
volume 1 l liter liters litre litres
celsius 1 °c celsius
fahrenheit 1 °f fahrenheit
percent 1 % percent prozent pourcent
per-thousand 1 ‰ promille permille
basis-point 1 bp bps
CNY 1 元 人民币
KRW 1 원 krw
EUR 1 € eur 欧元 euro euros
USD 1 $ usd 美元 dollar dollars
GBP 1 £ gbp pound pounds
JPY 1 ¥ jpy yen 円 日元
CHF 1 chf franken francs
power 1 w watt watts
power 1e3 kw kilowatt kilowatts
power 1e6 mw megawatt megawatts
""")
_UNITS_SPELLED = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS_SPELLED = "twenty thirty forty fifty sixty seventy eighty ninety"
#: Spelled numbers below 100, by tens and units.
NUMBER_WORDS = {word: at for at, word in enumerate(_UNITS_SPELLED.split())} | {
    word: at * 10 for at, word in enumerate(_TENS_SPELLED.split(), start=2)
}
#: Words and letters behind a number that multiply it.
SCALES = (
    {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
    | {"k": 1e3, "m": 1e6, "bn": 1e9, "mio": 1e6, "mrd": 1e9}
    | dict.fromkeys("千천", 1e3)
    | dict.fromkeys("万萬만", 1e4)
    | dict.fromkeys("亿億억", 1e8)
)
