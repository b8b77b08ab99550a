def frames_of(text, passage):
    return []
