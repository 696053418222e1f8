from cimento.paradigms.cloze.paradigm import CLOZE as CLOZE
