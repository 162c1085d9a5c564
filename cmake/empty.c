// Stands in for a room that has no sources yet; a library needs one translation unit.
typedef int EmptyTranslationUnit;
