from cimento.paradigms.cloze.building import build_templates as build_templates
from cimento.paradigms.cloze.building import items_of_concordances as items_of_concordances
from cimento.paradigms.cloze.building import read_description as read_description
from cimento.paradigms.cloze.paradigm import CLOZE as CLOZE
from cimento.paradigms.cloze.requests import ClozeOptions as ClozeOptions
from cimento.paradigms.cloze.requests import blank_requests as blank_requests
from cimento.paradigms.cloze.run_profiles import ProfileSettings as ProfileSettings
from cimento.paradigms.cloze.run_profiles import profile_runs as profile_runs
