-- Smoothed win rate against the rate that anything at the same ranks has: with m = strength and
-- mu = expected / shown, the mean of Beta(followed + m * mu, shown - followed + m * (1 - mu)) is the
-- rate, and (rate - mu) / (rate + mu) lies between -1 and 1 whatever was counted.
create or replace function ragpg.feedback_prior(
  shown double precision, followed double precision, expected double precision, strength double precision default 20)
returns double precision
language sql immutable parallel safe
return case when shown > 0 and expected > 0 then
  1 + 0.15 * ((followed + strength * expected / shown) / (shown + strength) - expected / shown)
           / ((followed + strength * expected / shown) / (shown + strength) + expected / shown)
  else 1 end;

comment on function ragpg.feedback_prior(double precision, double precision, double precision, double precision) is
$$What a passage's score is multiplied with, from 0.85 to 1.15; 1 without history.

  select ragpg.feedback_prior(shown => 40, followed => 20, expected => 8);

shown     how often it was shown
followed  how often it was followed
expected  how often anything shown at those ranks would have been
strength  after so many showings its own record counts for half$$;
