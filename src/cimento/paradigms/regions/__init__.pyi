from cimento.paradigms.regions.contrast import Contrast as Contrast
from cimento.paradigms.regions.contrast import find_contrast as find_contrast
from cimento.paradigms.regions.contrast import predictions_of_pairs as predictions_of_pairs
from cimento.paradigms.regions.exposure import corpus_exposure as corpus_exposure
from cimento.paradigms.regions.paradigm import REGIONS as REGIONS
