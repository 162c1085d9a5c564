// The errors in statements and in the layout of lines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/py_tree.h"

static const PyCase statements[] = {
    {"del", "1:4: expected an expression, found the end of the line [syntax]"},
    {"global", "1:7: expected the name of a variable, found the end of the line [syntax]"},
    {"global 1", "1:8: expected the name of a variable, found '1' [syntax]"},
    {"nonlocal a.b", "1:11: expected the end of the line, found '.' [syntax]"},
    {"assert", "1:7: expected an expression, found the end of the line [syntax]"},
    {"import", "1:7: expected the name of a module, found the end of the line [syntax]"},
    {"import a.", "1:10: expected a name after '.', found the end of the line [syntax]"},
    {"import a as", "1:12: expected a name after 'as', found the end of the line [syntax]"},
    {"import a as b.c", "1:14: expected the end of the line, found '.' [syntax]"},
    {"import 1", "1:8: expected the name of a module, found '1' [syntax]"},
    {"from", "1:5: expected the name of a module, found the end of the line [syntax]"},
    {"from a",
     "1:7: expected 'import' after the name of the module, found the end of the line [syntax]"},
    {"from a import", "1:14: expected a name to import, found the end of the line [syntax]"},
    {"from a import b,", "1:17: expected a name to import, found the end of the line [syntax]"},
    {"from a import (b",
     "1:17: expected ')' after the names, found the end of the file [syntax]\n"
     "  note 1:15: the bracket is opened here"},
    {"from a import (b, c\n"
     "d = 1\n",
     "2:1: expected ')' after the names, found 'd' [syntax]\n"
     "  note 1:15: the bracket is opened here"},
    {"from a import b.c", "1:16: expected the end of the line, found '.' [syntax]"},
    {"from a import *, b", "1:16: expected the end of the line, found ',' [syntax]"},
    {"from . a b", "1:10: expected 'import' after the name of the module, found 'b' [syntax]"},
    {"from import a",
     "1:6: expected the name of a module, found 'import' [syntax]\n"
     "  help: 'import' is a keyword"},
    {"from "
     "............................................................................................."
     "............................................................................................."
     "............................................................................................."
     "..................... import a",
     "1:303: at most 255 dots are before the name of a module [too-large]"},
    {"type X", "1:7: expected '=' after the name of the type, found the end of the line [syntax]"},
    {"type X = ", "1:9: expected an expression, found the end of the line [syntax]"},
    {"type X[",
     "1:8: expected the name of a type parameter, found the end of the file [syntax]\n"
     "  note 1:7: the bracket is opened here"},
    {"type X[T",
     "1:9: expected ']' after the type parameters, found the end of the file [syntax]\n"
     "  note 1:7: the bracket is opened here"},
    {"type X[1] = a", "1:8: expected the name of a type parameter, found '1' [syntax]"},
    {"type X[T: ] = a", "1:11: expected an expression, found ']' [syntax]"},
    {"raise a from", "1:13: expected an expression, found the end of the line [syntax]"},
    {"async a", "1:7: expected 'def', 'for' or 'with' after 'async', found 'a' [syntax]"},
    {"async for", "1:10: expected an expression, found the end of the line [syntax]"},
    {"await = 1",
     "1:7: expected an expression, found '=' [syntax]\n"
     "  help: did you mean '=='?"},
    {"a b\n"
     "c d\n"
     "e = 1\n"
     "f g\n",
     "1:3: expected the end of the line, found 'b' [syntax]\n"
     "2:3: expected the end of the line, found 'd' [syntax]\n"
     "4:3: expected the end of the line, found 'g' [syntax]"},
    {"if a:\n"
     "    b c\n"
     "    d e\n",
     "2:7: expected the end of the line, found 'c' [syntax]\n"
     "3:7: expected the end of the line, found 'e' [syntax]"},
};

static void test_statements(void **state) {
    (void)state;
    py_text_check_errors(statements, sizeof statements / sizeof *statements);
}

static const PyCase compound[] = {
    {"if a\n"
     "    b\n",
     "1:5: expected ':' after the condition, found the end of the line [syntax]"},
    {"if a: ",
     "1:6: expected an indented block after the condition, found the end of the file [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"if a:\n"
     "b\n",
     "2:1: expected an indented block after the condition, found 'b' [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"if a:",
     "1:6: expected an indented block after the condition, found the end of the file [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"if:\n"
     "    a\n",
     "1:3: expected an expression, found ':' [syntax]"},
    {"if a = b: c",
     "1:6: expected ':' after the condition, found '=' [syntax]\n"
     "  help: did you mean '=='?"},
    {"if a == b = c:\n"
     "    d\n",
     "1:11: expected ':' after the condition, found '=' [syntax]\n"
     "  help: did you mean '=='?"},
    {"if a:\n"
     "    b\n"
     "else\n"
     "    c\n",
     "3:5: expected ':' after 'else', found the end of the line [syntax]"},
    {"if a:\n"
     "    b\n"
     "else if c:\n"
     "    d\n",
     "3:6: expected ':' after 'else', found 'if' [syntax]\n"
     "  help: write 'elif'"},
    {"if a:\n"
     "    b\n"
     "elif\n"
     "    c\n",
     "3:5: expected an expression, found the end of the line [syntax]"},
    {"iff a:\n"
     "    b\n"
     "else:\n"
     "    c\n"
     "d e\n",
     "1:5: expected the end of the line, found 'a' [syntax]\n"
     "  help: did you mean 'if'?\n"
     "5:3: expected the end of the line, found 'e' [syntax]"},
    {"else:\n"
     "    a\n",
     "1:1: this 'else' belongs to no 'if', 'for', 'while' or 'try' [syntax]\n"
     "  help: its indentation is that of the statement to which it belongs"},
    {"elif a:\n"
     "    b\n",
     "1:1: this 'elif' belongs to no 'if' [syntax]\n"
     "  help: its indentation is that of the statement to which it belongs"},
    {"except a:\n"
     "    b\n",
     "1:1: this 'except' belongs to no 'try' [syntax]\n"
     "  help: its indentation is that of the statement to which it belongs"},
    {"finally:\n"
     "    a\n",
     "1:1: this 'finally' belongs to no 'try' [syntax]\n"
     "  help: its indentation is that of the statement to which it belongs"},
    {"while a\n"
     "    b\n",
     "1:8: expected ':' after the condition, found the end of the line [syntax]"},
    {"while: a", "1:6: expected an expression, found ':' [syntax]"},
    {"for a b:\n"
     "    c\n",
     "1:7: expected 'in' after the variables of 'for', found 'b' [syntax]"},
    {"for a in:\n"
     "    b\n",
     "1:9: expected an expression, found ':' [syntax]"},
    {"for in b: c",
     "1:5: expected an expression, found 'in' [syntax]\n"
     "  help: 'in' is a keyword"},
    {"for a in b\n"
     "    c\n",
     "1:11: expected ':' after the values of 'for', found the end of the line [syntax]"},
    {"for a in b:\n"
     "c\n",
     "2:1: expected an indented block after the values of 'for', found 'c' [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"try:\n"
     "    a\n",
     "2:6: expected 'except' or 'finally' after the block of 'try', found the end of the file "
     "[syntax]"},
    {"try:\n"
     "    a\n"
     "b\n",
     "3:1: expected 'except' or 'finally' after the block of 'try', found 'b' [syntax]"},
    {"try:\n"
     "    a\n"
     "else:\n"
     "    b\n",
     "3:1: expected 'except' or 'finally' after the block of 'try', found 'else' [syntax]"},
    {"try:\n"
     "    a\n"
     "except a, b:\n"
     "    c\n",
     "3:9: expected ':' after the exception, found ',' [syntax]\n"
     "  help: write 'except A as name:', or 'except (A, B):'"},
    {"try:\n"
     "    a\n"
     "except a as:\n"
     "    b\n",
     "3:12: expected a name after 'as', found ':' [syntax]"},
    {"try:\n"
     "    a\n"
     "except a as b.c:\n"
     "    b\n",
     "3:14: expected ':' after the exception, found '.' [syntax]"},
    {"try: a\n"
     "except*: b\n",
     "2:8: expected an expression, found ':' [syntax]"},
    {"try: a\n"
     "except b: c\n"
     "except* d: e\n",
     "3:1: 'except' and 'except*' are in one 'try' [syntax]"},
    {"try\n"
     "    a\n"
     "except: b\n",
     "1:4: expected ':' after 'try', found the end of the line [syntax]"},
    {"with a as b\n"
     "    c\n",
     "1:12: expected ':' after the items of 'with', found the end of the line [syntax]"},
    {"with: a", "1:5: expected an expression, found ':' [syntax]"},
    {"with (a as b, c: d",
     "1:16: expected ')' after the items, found ':' [syntax]\n"
     "  note 1:6: the bracket is opened here"},
    {"with (a as b c): d",
     "1:14: expected ')' after the items, found 'c' [syntax]\n"
     "  note 1:6: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"with a as: b", "1:10: expected an expression, found ':' [syntax]"},
    {"with a b: c", "1:8: expected ':' after the items of 'with', found 'b' [syntax]"},
    {"with (\n"
     "    a as b\n"
     "def f(): c\n",
     "3:1: expected ')' after the items, found 'def' [syntax]\n"
     "  note 1:6: the bracket is opened here"},
};

static void test_compound(void **state) {
    (void)state;
    py_text_check_errors(compound, sizeof compound / sizeof *compound);
}

static const PyCase functions[] = {
    {"def",
     "1:4: expected the name of the function after 'def', found the end of the line [syntax]"},
    {"def f",
     "1:6: expected '(' after the name of the function, found the end of the line [syntax]"},
    {"def f:\n"
     "    a\n",
     "1:6: expected '(' after the name of the function, found ':' [syntax]"},
    {"def f(",
     "1:7: expected the name of a parameter, found the end of the file [syntax]\n"
     "  note 1:6: the bracket is opened here"},
    {"def f(a\n"
     "    return a\n",
     "2:5: expected ')' after the parameters, found 'return' [syntax]\n"
     "  note 1:6: the bracket is opened here"},
    {"def f(a, b\n"
     "g = 1\n",
     "2:1: expected ')' after the parameters, found 'g' [syntax]\n"
     "  note 1:6: the bracket is opened here"},
    {"def f(a b): c",
     "1:9: expected ')' after the parameters, found 'b' [syntax]\n"
     "  note 1:6: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"def f(1): a", "1:7: expected the name of a parameter, found '1' [syntax]"},
    {"def f(a.b): c",
     "1:8: expected ')' after the parameters, found '.' [syntax]\n"
     "  note 1:6: the bracket is opened here"},
    {"def f(a=): b", "1:9: expected an expression, found ')' [syntax]"},
    {"def f(a:): b", "1:9: expected an expression, found ')' [syntax]"},
    {"def f(a=1, b): c",
     "1:12: a parameter without a default is after one with a default [syntax]"},
    {"def f(*): a", "1:7: expected a parameter with a name after '*' [syntax]"},
    {"def f(*, **a): b", "1:10: expected a parameter with a name after '*' [syntax]"},
    {"def f(*a, *b): c", "1:11: there is only one '*' among the parameters [syntax]"},
    {"def f(*, *a): b", "1:10: there is only one '*' among the parameters [syntax]"},
    {"def f(**a, b): c", "1:12: no parameter is after the '**' one [syntax]"},
    {"def f(**a, **b): c", "1:12: no parameter is after the '**' one [syntax]"},
    {"def f(*a=1): b", "1:9: a '*' parameter has no default [syntax]"},
    {"def f(**a=1): b", "1:10: a '**' parameter has no default [syntax]"},
    {"def f(/): a", "1:7: expected a parameter before '/' [syntax]"},
    {"def f(a, /, b, /): c", "1:16: there is only one '/' among the parameters [syntax]"},
    {"def f(*a, /): b", "1:11: the '/' comes before the '*' of the parameters [syntax]"},
    {"def f(*, /, a): b", "1:10: the '/' comes before the '*' of the parameters [syntax]"},
    {"def f(lambda): a",
     "1:7: expected the name of a parameter, found 'lambda' [syntax]\n"
     "  help: 'lambda' is a keyword"},
    {"def f() ->: a", "1:11: expected an expression, found ':' [syntax]"},
    {"def f() -> a, b: c", "1:13: expected ':' after the head of the function, found ',' [syntax]"},
    {"def f() - > a: b", "1:9: expected ':' after the head of the function, found '-' [syntax]"},
    {"def class(): a",
     "1:5: expected the name of the function after 'def', found 'class' [syntax]\n"
     "  help: 'class' is a keyword"},
    {"def f():\n"
     "a\n",
     "2:1: expected an indented block after the head of the function, found 'a' [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"def f(): a b\n", "1:12: expected the end of the line, found 'b' [syntax]"},
    {"def f(a, a b):\n"
     "    c d\n",
     "1:12: expected ')' after the parameters, found 'b' [syntax]\n"
     "  note 1:6: the bracket is opened here\n"
     "  help: is a ',' missing?\n"
     "2:7: expected the end of the line, found 'd' [syntax]"},
    {"def f[(a): b", "1:7: expected the name of a type parameter, found '(' [syntax]"},
    {"def f[](a): b", "1:7: expected the name of a type parameter, found ']' [syntax]"},
    {"class",
     "1:6: expected the name of the class after 'class', found the end of the line [syntax]"},
    {"class a",
     "1:8: expected ':' after the head of the class, found the end of the line [syntax]"},
    {"class 1: b", "1:7: expected the name of the class after 'class', found '1' [syntax]"},
    {"class a(b: c",
     "1:10: expected ')' after the arguments, found ':' [syntax]\n"
     "  note 1:8: the bracket is opened here"},
    {"class a:\n"
     "b\n",
     "2:1: expected an indented block after the head of the class, found 'b' [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"class a b: c", "1:9: expected ':' after the head of the class, found 'b' [syntax]"},
    {"@a",
     "1:3: expected a function or a class after the decorator, found the end of the file [syntax]"},
    {"@a\n"
     "b = 1\n",
     "2:1: expected a function or a class after the decorator, found 'b' [syntax]"},
    {"@a b\n"
     "def f(): c d\n",
     "1:4: expected the end of the line after the decorator, found 'b' [syntax]\n"
     "2:12: expected the end of the line, found 'd' [syntax]"},
    {"@\n"
     "def f(): a",
     "1:2: expected an expression, found the end of the line [syntax]"},
    {"@a\n"
     "async b",
     "2:1: expected a function or a class after the decorator, found 'async' [syntax]"},
    {"lambda a=1, b: c",
     "1:13: a parameter without a default is after one with a default [syntax]"},
    {"lambda *: a", "1:8: expected a parameter with a name after '*' [syntax]"},
    {"async def f(a b): c",
     "1:15: expected ')' after the parameters, found 'b' [syntax]\n"
     "  note 1:12: the bracket is opened here\n"
     "  help: is a ',' missing?"},
};

static void test_functions(void **state) {
    (void)state;
    py_text_check_errors(functions, sizeof functions / sizeof *functions);
}

static const PyCase match[] = {
    {"match a:\n"
     "b\n",
     "2:1: expected an indented block of 'case' after 'match', found 'b' [syntax]"},
    {"match a:\n"
     "    b\n",
     "2:5: expected 'case' in the block of 'match', found 'b' [syntax]"},
    {"match a:\n"
     "    b c:\n"
     "        d\n",
     "2:5: expected 'case' in the block of 'match', found 'b' [syntax]"},
    {"match a:",
     "1:9: expected an indented block of 'case' after 'match', found the end of the file [syntax]"},
    {"match a: case b: c",
     "1:10: expected a line end and 'case' after 'match …:', found 'case' [syntax]"},
    {"match a\n"
     "    case b: c\n",
     "1:8: expected ':' after the value of 'match', found the end of the line [syntax]"},
    {"match a:\n"
     "    case: b\n",
     "2:9: expected a pattern, found ':' [syntax]"},
    {"match a:\n"
     "    case 1\n"
     "        b\n",
     "2:11: expected ':' after the pattern, found the end of the line [syntax]"},
    {"match a:\n"
     "    case 1:\n"
     "    b\n",
     "3:5: expected an indented block after the pattern, found 'b' [syntax]\n"
     "  help: indent its lines more than this one; an empty block is 'pass'"},
    {"match a:\n"
     "    case 1 b: c\n"
     "    case 2 d: e\n",
     "2:12: expected ':' after the pattern, found 'b' [syntax]\n"
     "3:12: expected ':' after the pattern, found 'd' [syntax]"},
    {"match a:\n"
     "    case a + b: c\n",
     "2:12: expected ':' after the pattern, found '+' [syntax]"},
    {"match a:\n"
     "    case -x: c\n",
     "2:11: expected a number after '-' in a pattern, found 'x' [syntax]"},
    {"match a:\n"
     "    case 1 + 2: c\n",
     "2:14: expected an imaginary number such as '1j' in a pattern, found '2' [syntax]"},
    {"match a:\n"
     "    case 1j + 2j: c\n",
     "2:10: expected a real number before '+' in a pattern, found a number [syntax]"},
    {"match a:\n"
     "    case 'a' + 2j: c\n",
     "2:10: expected a real number before '+' in a pattern, found a string [syntax]"},
    {"match a:\n"
     "    case (*a): c\n",
     "2:11: a '*' needs a tuple or a list around it [syntax]"},
    {"match a:\n"
     "    case *a: c\n",
     "2:12: expected ',' after '*name', found ':' [syntax]"},
    {"match *a:\n"
     "    case b: c\n",
     "1:9: expected ',' after '*…', found ':' [syntax]"},
    {"match a:\n"
     "    case *1, b: c\n",
     "2:11: expected a name after '*' in a pattern, found '1' [syntax]"},
    {"match a:\n"
     "    case {a: b}: c\n",
     "2:11: a key of a pattern is a constant, found a name [syntax]\n"
     "  help: the value of a name is written with a point, as in 'module.name'"},
    {"match a:\n"
     "    case {**1}: c\n",
     "2:13: expected a name after '**' in a pattern, found '1' [syntax]"},
    {"match a:\n"
     "    case {1 2}: c\n",
     "2:13: expected ':' after a key of the pattern, found '2' [syntax]"},
    {"match a:\n"
     "    case A(b=1, c): d\n",
     "2:17: a positional pattern cannot be after one with a name [syntax]"},
    {"match a:\n"
     "    case A(b c): d\n",
     "2:14: expected ')' after the patterns of the class, found 'c' [syntax]\n"
     "  note 2:11: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"match a:\n"
     "    case [a, b: c\n",
     "2:15: expected ']' after the patterns, found ':' [syntax]\n"
     "  note 2:10: the bracket is opened here"},
    {"match a:\n"
     "    case a as 1: c\n",
     "2:15: expected a name after 'as', found '1' [syntax]"},
    {"match a:\n"
     "    case a.1: c\n",
     "2:11: expected ':' after the pattern, found '.1' [syntax]"},
    {"match a:\n"
     "    case a if: c\n",
     "2:14: expected an expression, found ':' [syntax]"},
    {"match a:\n"
     "    case not a: c\n",
     "2:10: expected a pattern, found 'not' [syntax]"},
    {"match a:\n"
     "    case f(): c\n"
     "    d = 1\n"
     "e f\n",
     "3:5: expected 'case' in the block of 'match', found 'd' [syntax]\n"
     "4:3: expected the end of the line, found 'f' [syntax]"},
    {"match a:\n"
     "    case 1: b\n"
     "        c\n",
     "3:9: this line is indented more than the one before, but begins no block [syntax]"},
    {"match (a b\n"
     "c = 1\n",
     "1:10: expected ')' after the arguments, found 'b' [syntax]\n"
     "  note 1:7: the bracket is opened here\n"
     "  help: is a ',' missing?"},
};

static void test_match(void **state) {
    (void)state;
    py_text_check_errors(match, sizeof match / sizeof *match);
}

static const PyCase layout[] = {
    {"  a", "1:3: this line is indented more than the one before, but begins no block [syntax]"},
    {"a\n"
     "  b\n"
     "c\n",
     "2:3: this line is indented more than the one before, but begins no block [syntax]"},
    {"if a:\n"
     "    b\n"
     "  c\n"
     "d e\n",
     "3:1: this indentation of 2 matches no outer block [syntax]\n"
     "  help: the blocks around it are indented by 0 and 4\n"
     "4:3: expected the end of the line, found 'e' [syntax]"},
    {"if a:\n"
     "        b\n"
     "\tc\n",
     "3:1: the indentation mixes tabs and spaces, so that it depends on the size of a tab "
     "[syntax]\n"
     "  help: use spaces only"},
    {"if a:\n"
     "\tb\n"
     "        c\n",
     "3:1: the indentation mixes tabs and spaces, so that it depends on the size of a tab "
     "[syntax]\n"
     "  help: use spaces only"},
    {"if a:\n"
     " b\n"
     "\tc\n",
     "3:1: the indentation mixes tabs and spaces, so that it depends on the size of a tab "
     "[syntax]\n"
     "  help: use spaces only"},
    {"if a:\n"
     "\tif b:\n"
     "\t\tc\n"
     "        d\n",
     "4:1: the indentation mixes tabs and spaces, so that it depends on the size of a tab "
     "[syntax]\n"
     "  help: use spaces only"},
    {"if a:\n"
     "    if b:\n"
     "        c\n"
     "      d\n"
     "    e f\n",
     "4:1: this indentation of 6 matches no outer block [syntax]\n"
     "  help: the blocks around it are indented by 4 and 8\n"
     "5:7: expected the end of the line, found 'f' [syntax]"},
    {"a = \\ b",
     "1:5: unexpected character after '\\' [bad-character]\n"
     "  help: a '\\' that joins two lines is the last character of the first"},
    {"a = b + \\",
     "1:9: a '\\' joins the next line, but the file ends [bad-character]\n"
     "  help: a '\\' that joins two lines is the last character of the first"},
    {"a \\\n",
     "1:3: a '\\' joins the next line, but the file ends [bad-character]\n"
     "  help: a '\\' that joins two lines is the last character of the first"},
    {"a = 'b\n"
     "c d\n",
     "1:5: this string is not closed on its line [bad-string]\n"
     "  help: end it with '; a string of several lines is in three quotes\n"
     "2:3: expected the end of the line, found 'd' [syntax]"},
    {"a = f('b\n"
     "c d\n",
     "1:7: this string is not closed on its line [bad-string]\n"
     "  help: end it with '; a string of several lines is in three quotes\n"
     "2:3: expected the end of the line, found 'd' [syntax]"},
    {"a = '''b\n"
     "c\n",
     "1:5: this string is not closed before the end of the file [bad-string]\n"
     "  help: end it with '''"},
    {"a = f'b\n"
     "c d\n",
     "1:5: this string is not closed on its line [bad-string]\n"
     "  help: end it with '; a string of several lines is in three quotes\n"
     "2:3: expected the end of the line, found 'd' [syntax]"},
    {"a = f'''b\n",
     "1:5: this string is not closed before the end of the file [bad-string]\n"
     "  help: end it with '''"},
    {"a = f'{b\n"
     "c d\n",
     "2:1: expected '}' after the value in an f-string, found 'c' [syntax]\n"
     "  note 1:7: the '{' is here\n"
     "2:3: expected the end of the line, found 'd' [syntax]"},
    {"a = (b\n"
     "c = d\n",
     "2:1: expected ')' after the expression, found 'c' [syntax]\n"
     "  note 1:5: the bracket is opened here"},
    {"a = (b,\n"
     "     c d,\n"
     "     e)\n"
     "f g\n",
     "2:8: expected ')' after the items, found 'd' [syntax]\n"
     "  note 1:5: the bracket is opened here\n"
     "  help: is a ',' missing?\n"
     "4:3: expected the end of the line, found 'g' [syntax]"},
    {"f(a,\n"
     "  b c\n"
     "  d)\n"
     "g h\n",
     "2:5: expected ')' after the arguments, found 'c' [syntax]\n"
     "  note 1:2: the bracket is opened here\n"
     "  help: is a ',' missing?\n"
     "4:3: expected the end of the line, found 'h' [syntax]"},
    {"x = [\n"
     "  1 2,\n"
     "  3\n"
     "]\n"
     "y z\n",
     "2:5: expected ']' after the items, found '2' [syntax]\n"
     "  note 1:5: the bracket is opened here\n"
     "  help: is a ',' missing?\n"
     "5:3: expected the end of the line, found 'z' [syntax]"},
    {"x = {\n"
     "  'a': 1\n"
     "  'b': 2\n"
     "}\n"
     "y z\n",
     "3:3: expected '}' after the items, found a string [syntax]\n"
     "  note 1:5: the bracket is opened here\n"
     "  help: is a ',' missing?\n"
     "5:3: expected the end of the line, found 'z' [syntax]"},
    {"a = (\n"
     "  b\n"
     "  return c\n"
     "d e\n",
     "3:3: expected ')' after the expression, found 'return' [syntax]\n"
     "  note 1:5: the bracket is opened here\n"
     "4:3: expected the end of the line, found 'e' [syntax]"},
    {"class A:\n"
     "    def f(self):\n"
     "        a b\n"
     "    def g(self):\n"
     "        c d\n"
     "e f\n",
     "3:11: expected the end of the line, found 'b' [syntax]\n"
     "5:11: expected the end of the line, found 'd' [syntax]\n"
     "6:3: expected the end of the line, found 'f' [syntax]"},
};

static void test_layout(void **state) {
    (void)state;
    py_text_check_errors(layout, sizeof layout / sizeof *layout);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements), cmocka_unit_test(test_compound),
        cmocka_unit_test(test_functions),  cmocka_unit_test(test_match),
        cmocka_unit_test(test_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
