from cimento.paradigms.cloze.paradigm import CLOZE as CLOZE
from cimento.paradigms.cloze.run_profiles import ProfileSettings as ProfileSettings
from cimento.paradigms.cloze.run_profiles import profile_runs as profile_runs
