import tilec

CompilationError = tilec.SourceError
CompileTimeAssertionFailure = tilec.SourceError
UnsupportedLanguageConstruct = tilec.SourceError
