import tilec

TritonError = tilec.Error
OutOfResources = tilec.UnsupportedError
PTXASError = tilec.UnsupportedError
AutotunerError = tilec.Error


class InterpreterError(tilec.Error):
    """Triton's own interpreter raises it; tilec never does."""
