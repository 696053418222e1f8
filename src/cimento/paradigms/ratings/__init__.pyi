from cimento.paradigms.ratings.estimates import ceilings as ceilings
from cimento.paradigms.ratings.paradigm import RATINGS as RATINGS
from cimento.suites.ratings import RatedSentence as RatedSentence
from cimento.suites.ratings import Scale as Scale
from cimento.suites.ratings import rated_of as rated_of
from cimento.suites.ratings import ratings_by as ratings_by
