// The errors in tokens and expressions: each with its place, its notes and its help.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/py_tree.h"

static const PyCase words[] = {
    {"print x",
     "1:7: expected the end of the line, found 'x' [syntax]\n"
     "  help: 'print' is a function: write 'print(…)'"},
    {"print 'a', b",
     "1:7: expected the end of the line, found a string [syntax]\n"
     "  help: 'print' is a function: write 'print(…)'"},
    {"exec 'a'",
     "1:6: expected the end of the line, found a string [syntax]\n"
     "  help: 'exec' is a function: write 'exec(…)'"},
    {"whlie a:\n"
     "    b\n",
     "1:7: expected the end of the line, found 'a' [syntax]\n"
     "  help: did you mean 'while'?"},
    {"esle:\n"
     "    b\n",
     "1:6: expected the type of the variable after ':', found the end of the line [syntax]\n"
     "  help: did you mean 'else'?"},
    {"retrun a",
     "1:8: expected the end of the line, found 'a' [syntax]\n"
     "  help: did you mean 'return'?"},
    {"func f(a):\n"
     "    b\n",
     "1:6: expected the end of the line, found 'f' [syntax]"},
    {"a b", "1:3: expected the end of the line, found 'b' [syntax]"},
    {"(a) b", "1:5: expected the end of the line, found 'b' [syntax]"},
    {"a, b c", "1:6: expected the end of the line, found 'c' [syntax]"},
};

static void test_words(void **state) {
    (void)state;
    py_text_check_errors(words, sizeof words / sizeof *words);
}

static const PyCase lines[] = {
    {"a := 1",
     "1:3: expected the end of the line, found ':=' [syntax]\n"
     "  help: write '=', or put the assignment with ':=' in parentheses"},
    {"a)",
     "1:2: expected the end of the line, found ')' [syntax]\n"
     "  help: no bracket is open that it could close"},
    {"a + b]",
     "1:6: expected the end of the line, found ']' [syntax]\n"
     "  help: no bracket is open that it could close"},
    {"}", "1:1: expected an expression, found '}' [syntax]"},
    {"f(a): b",
     "1:5: expected the end of the line, found ':' [syntax]\n"
     "  help: a ':' is at the end of the head of 'if', 'for', 'def' and others"},
    {"a b; c", "1:3: expected the end of the line, found 'b' [syntax]"},
    {"return return", "1:8: expected the end of the line, found 'return' [syntax]"},
    {"raise E, 'a'",
     "1:8: expected the end of the line, found ',' [syntax]\n"
     "  help: write 'raise Error(…)'"},
    {"pass a", "1:6: expected the end of the line, found 'a' [syntax]"},
    {"a = 1 2", "1:7: expected the end of the line, found '2' [syntax]"},
    {"x = y if z",
     "1:11: expected 'else' after the condition of 'a if condition else b', found the end of the "
     "line [syntax]"},
    {"1: int",
     "1:2: expected the end of the line, found ':' [syntax]\n"
     "  help: a ':' is at the end of the head of 'if', 'for', 'def' and others"},
    {"a: = 3", "1:4: expected the type of the variable after ':', found '=' [syntax]"},
    {"a:", "1:3: expected the type of the variable after ':', found the end of the line [syntax]"},
    {"for x in y: pass z", "1:18: expected the end of the line, found 'z' [syntax]"},
};

static void test_lines(void **state) {
    (void)state;
    py_text_check_errors(lines, sizeof lines / sizeof *lines);
}

static const PyCase expressions[] = {
    {"a +", "1:4: expected an expression, found the end of the line [syntax]"},
    {"a ++",
     "1:5: expected an expression, found the end of the line [syntax]\n"
     "  help: there is no '++'; write '+= 1'"},
    {"a--",
     "1:4: expected an expression, found the end of the line [syntax]\n"
     "  help: there is no '--'; write '-= 1'"},
    {"a = ", "1:4: expected an expression, found the end of the line [syntax]"},
    {"a && b",
     "1:4: expected an expression, found '&' [syntax]\n"
     "  help: 'and' joins two conditions"},
    {"a || b",
     "1:4: expected an expression, found '|' [syntax]\n"
     "  help: 'or' joins two conditions"},
    {"!a",
     "1:1: expected an expression, found '!' [syntax]\n"
     "  help: write 'not'"},
    {"a == = b",
     "1:6: expected an expression, found '=' [syntax]\n"
     "  help: did you mean '=='?"},
    {"f(=1)",
     "1:3: expected an expression, found '=' [syntax]\n"
     "  help: did you mean '=='?"},
    {"a <> b",
     "1:3: there is no operator '<>' [syntax]\n"
     "  help: write '!='"},
    {"x = yield_(yield)",
     "1:12: expected an expression, found 'yield' [syntax]\n"
     "  help: a 'yield' in an expression is in parentheses"},
    {"print(yield)",
     "1:7: expected an expression, found 'yield' [syntax]\n"
     "  help: a 'yield' in an expression is in parentheses"},
    {"a if b",
     "1:7: expected 'else' after the condition of 'a if condition else b', found the end of the "
     "line [syntax]"},
    {"a if else b",
     "1:6: expected an expression, found 'else' [syntax]\n"
     "  help: a choice is written 'a if condition else b'"},
    {"a.1", "1:2: expected the end of the line, found '.1' [syntax]"},
    {"a.", "1:3: expected the name of an attribute after '.', found the end of the line [syntax]"},
    {"a.if",
     "1:3: expected the name of an attribute after '.', found 'if' [syntax]\n"
     "  help: 'if' is a keyword"},
    {"not", "1:4: expected an expression, found the end of the line [syntax]"},
    {"lambda", "1:7: expected the name of a parameter, found the end of the line [syntax]"},
    {"lambda x",
     "1:9: expected ':' after the parameters of the lambda, found the end of the line [syntax]"},
    {"lambda x: ", "1:10: expected an expression, found the end of the line [syntax]"},
    {"lambda (a): b", "1:8: expected the name of a parameter, found '(' [syntax]"},
    {"x = *", "1:6: expected an expression, found the end of the line [syntax]"},
    {"f(**)", "1:5: expected an expression, found ')' [syntax]"},
    {"a[",
     "1:3: expected an expression, found the end of the file [syntax]\n"
     "  note 1:2: the bracket is opened here"},
    {"a[]", "1:3: expected an expression, found ']' [syntax]"},
    {"a[1:2",
     "1:6: expected ']' after the index, found the end of the file [syntax]\n"
     "  note 1:2: the bracket is opened here"},
    {"a[1:2:3:4]",
     "1:8: expected ']' after the index, found ':' [syntax]\n"
     "  note 1:2: the bracket is opened here"},
    {"a[b := 1:]", "1:3: ':=' in a slice needs parentheses [syntax]"},
    {"[a b]",
     "1:4: expected ']' after the items, found 'b' [syntax]\n"
     "  note 1:1: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"(a b)",
     "1:4: expected ')' after the expression, found 'b' [syntax]\n"
     "  note 1:1: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"{a b}",
     "1:4: expected '}' after the items, found 'b' [syntax]\n"
     "  note 1:1: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"{a: b c: d}",
     "1:7: expected '}' after the items, found 'c' [syntax]\n"
     "  note 1:1: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"{a: b, c}", "1:9: expected ':' after a key of the dict, found '}' [syntax]"},
    {"{a, b: c}",
     "1:6: expected '}' after the items, found ':' [syntax]\n"
     "  note 1:1: the bracket is opened here"},
    {"{*a: b}", "1:2: the key of a dict cannot be a '*' expression [syntax]"},
    {"{**a for b in c}", "1:2: a comprehension has no '**' before its item [syntax]"},
    {"[*a for b in c]", "1:2: a comprehension has no '*' before its item [syntax]"},
    {"{a:}", "1:4: expected an expression, found '}' [syntax]"},
    {"(*a)", "1:2: a '*' needs a tuple or a list around it [syntax]"},
    {"(a, b",
     "1:6: expected ')' after the items, found the end of the file [syntax]\n"
     "  note 1:1: the bracket is opened here"},
    {"[a, b\n"
     "c = 1",
     "2:1: expected ']' after the items, found 'c' [syntax]\n"
     "  note 1:1: the bracket is opened here"},
    {"f(a\n"
     "def g(): pass\n",
     "2:1: expected ')' after the arguments, found 'def' [syntax]\n"
     "  note 1:2: the bracket is opened here"},
    {"(]", "1:2: expected an expression, found ']' [syntax]"},
    {"f(a b)",
     "1:5: expected ')' after the arguments, found 'b' [syntax]\n"
     "  note 1:2: the bracket is opened here\n"
     "  help: is a ',' missing?"},
    {"f(a for a in b, c)",
     "1:3: a generator that is not the only argument needs parentheses [syntax]\n"
     "  help: write '(… for … in …)'"},
    {"f(c, a for a in b)",
     "1:6: a generator that is not the only argument needs parentheses [syntax]\n"
     "  help: write '(… for … in …)'"},
    {"f(a=1, b)", "1:8: a positional argument cannot be after one with a name [syntax]"},
    {"f(**a, b)", "1:8: a positional argument cannot be after a '**' one [syntax]"},
    {"f(**a, *b)", "1:8: a '*' argument cannot be after a '**' one [syntax]"},
    {"f(a.b=1)",
     "1:3: expected a name before '=' in an argument, found an attribute [assign]\n"
     "  help: did you mean '=='?"},
    {"f((a)=1)",
     "1:4: expected a name before '=' in an argument, found a name in parentheses [assign]\n"
     "  help: did you mean '=='?"},
    {"f(1 = a)",
     "1:3: expected a name before '=' in an argument, found a number [assign]\n"
     "  help: did you mean '=='?"},
    {"f(a",
     "1:4: expected ')' after the arguments, found the end of the file [syntax]\n"
     "  note 1:2: the bracket is opened here"},
    {"[a for a b]", "1:10: expected 'in' after the variables of 'for', found 'b' [syntax]"},
    {"[a for in b]",
     "1:8: expected an expression, found 'in' [syntax]\n"
     "  help: 'in' is a keyword"},
    {"[a for 1 in b]", "1:8: cannot assign to a number [assign]"},
    {"[a for a in]", "1:12: expected an expression, found ']' [syntax]"},
    {"x = [a for a in b if]", "1:21: expected an expression, found ']' [syntax]"},
    {"import_ = class",
     "1:11: expected an expression, found 'class' [syntax]\n"
     "  help: 'class' is a keyword"},
    {"x = else",
     "1:5: expected an expression, found 'else' [syntax]\n"
     "  help: a choice is written 'a if condition else b'"},
    {"await", "1:6: expected an expression, found the end of the line [syntax]"},
    {"*a = *", "1:7: expected an expression, found the end of the line [syntax]"},
    {"a := b := c",
     "1:3: expected the end of the line, found ':=' [syntax]\n"
     "  help: write '=', or put the assignment with ':=' in parentheses"},
    {"(1 := a)", "1:2: ':=' assigns to a name only, found a number [assign]"},
    {"((a) := b)", "1:3: ':=' assigns to a name only, found a name in parentheses [assign]"},
    {"(a.b := c)", "1:2: ':=' assigns to a name only, found an attribute [assign]"},
    {"f(a := 1 := 2)",
     "1:10: expected ')' after the arguments, found ':=' [syntax]\n"
     "  note 1:2: the bracket is opened here"},
};

static void test_expressions(void **state) {
    (void)state;
    py_text_check_errors(expressions, sizeof expressions / sizeof *expressions);
}

static const PyCase targets[] = {
    {"1 = a", "1:1: cannot assign to a number [assign]"},
    {"a + b = c",
     "1:1: cannot assign to an operation [assign]\n"
     "  help: did you mean '=='?"},
    {"f() = a",
     "1:1: cannot assign to a call [assign]\n"
     "  help: did you mean '=='?"},
    {"a < b = c",
     "1:1: cannot assign to a comparison [assign]\n"
     "  help: did you mean '=='?"},
    {"a and b = c",
     "1:1: cannot assign to an operation [assign]\n"
     "  help: did you mean '=='?"},
    {"-a = b", "1:1: cannot assign to an operation [assign]"},
    {"(a, 1) = b", "1:5: cannot assign to a number [assign]"},
    {"[a, f()] = b", "1:5: cannot assign to a call [assign]"},
    {"*f() = a", "1:2: cannot assign to a call [assign]"},
    {"None = a", "1:1: cannot assign to None [assign]"},
    {"False = a", "1:1: cannot assign to False [assign]"},
    {"[a] += 1", "1:1: '+=' cannot assign to a list [assign]"},
    {"f(a[0]=1)",
     "1:3: expected a name before '=' in an argument, found a subscript [assign]\n"
     "  help: did you mean '=='?"},
    {"True = a", "1:1: cannot assign to True [assign]"},
    {"... = a", "1:1: cannot assign to '...' [assign]"},
    {"'a' = b", "1:1: cannot assign to a string [assign]"},
    {"f'{a}' = b", "1:1: cannot assign to an f-string [assign]"},
    {"lambda: a = b", "1:1: cannot assign to a lambda [assign]"},
    {"(a if b else c) = d", "1:2: cannot assign to a choice [assign]"},
    {"{a} = b", "1:1: cannot assign to a set [assign]"},
    {"{a: b} = c", "1:1: cannot assign to a dict [assign]"},
    {"[a for a in b] = c", "1:1: cannot assign to a comprehension [assign]"},
    {"(a for a in b) = c", "1:1: cannot assign to a generator [assign]"},
    {"(a := b) = c", "1:2: cannot assign to an assignment with ':=' [assign]"},
    {"yield = a", "1:1: cannot assign to a yield [assign]"},
    {"(await a) = b", "1:2: cannot assign to an await [assign]"},
    {"a = 1 = b", "1:5: cannot assign to a number [assign]"},
    {"f() += 1", "1:1: '+=' cannot assign to a call [assign]"},
    {"(a, b) += 1", "1:1: '+=' cannot assign to a tuple [assign]"},
    {"a, b += 1", "1:1: '+=' cannot assign to a tuple [assign]"},
    {"1 -= a", "1:1: '-=' cannot assign to a number [assign]"},
    {"for f() in a: b", "1:5: cannot assign to a call [assign]"},
    {"for 1 in a: b", "1:5: cannot assign to a number [assign]"},
    {"with a as 1: b", "1:11: cannot assign to a number [assign]"},
    {"with a as b + c: d", "1:11: cannot assign to an operation [assign]"},
    {"with a as f(): d", "1:11: cannot assign to a call [assign]"},
    {"with (a as 1, b): c", "1:12: cannot assign to a number [assign]"},
    {"del f()", "1:5: cannot delete a call [assign]"},
    {"del 1", "1:5: cannot delete a number [assign]"},
    {"del *a",
     "1:5: expected an expression, found '*' [syntax]\n"
     "  help: '*' before a value is for arguments, and for the items of tuples and lists"},
    {"del a + b", "1:5: cannot delete an operation [assign]"},
    {"del (a, 1)", "1:9: cannot delete a number [assign]"},
    {"f(): int",
     "1:4: expected the end of the line, found ':' [syntax]\n"
     "  help: a ':' is at the end of the head of 'if', 'for', 'def' and others"},
};

static void test_targets(void **state) {
    (void)state;
    py_text_check_errors(targets, sizeof targets / sizeof *targets);
}

static const PyCase tokens[] = {
    {"a = $b",
     "1:5: unexpected character '$' [bad-character]\n"
     "  help: names are made of letters, digits and '_'"},
    {"a = b?",
     "1:6: unexpected character '?' [bad-character]\n"
     "  help: a choice is written 'a if condition else b'"},
    {"a ? b : c",
     "1:3: unexpected character '?' [bad-character]\n"
     "  help: a choice is written 'a if condition else b'"},
    {"`a`",
     "1:1: unexpected character '`' [bad-character]\n"
     "  help: write 'repr(…)' for the text of a value\n"
     "1:3: unexpected character '`' [bad-character]\n"
     "  help: write 'repr(…)' for the text of a value"},
    {"a = “b”",
     "1:5: unexpected character '“' (U+201C) [bad-character]\n"
     "  help: strings are written with the quotes ' and \"\n"
     "1:9: unexpected character '”' (U+201D) [bad-character]\n"
     "  help: strings are written with the quotes ' and \""},
    {"a\302\240= b",
     "1:2: unexpected character '\302\240' (U+00A0) [bad-character]\n"
     "  help: it looks like a space, or like nothing; write a space or remove it"},
    {"a − b",
     "1:3: unexpected character '−' (U+2212) [bad-character]\n"
     "  help: write '-'"},
    {"a × b",
     "1:3: unexpected character '×' (U+00D7) [bad-character]\n"
     "  help: write '*'"},
    {"\342\200\213",
     "1:1: unexpected character '\342\200\213' (U+200B) [bad-character]\n"
     "  help: it looks like a space, or like nothing; write a space or remove it"},
    {"a = €", "1:5: unexpected character '€' (U+20AC) [bad-character]"},
    {"1__0", "1:2: '_' in a number must be before a digit [bad-number]"},
    {"1_", "1:2: '_' in a number must be before a digit [bad-number]"},
    {"0x", "1:1: a hexadecimal number needs digits after '0x' [bad-number]"},
    {"0o8", "1:3: an octal number has the digits 0 to 7 [bad-number]"},
    {"0b2", "1:3: a binary number has the digits 0 and 1 [bad-number]"},
    {"0b12", "1:4: a binary number has the digits 0 and 1 [bad-number]"},
    {"0o18", "1:4: an octal number has the digits 0 to 7 [bad-number]"},
    {"0xg", "1:1: a hexadecimal number needs digits after '0x' [bad-number]"},
    {"0_7",
     "1:1: a decimal number has no leading zeros [bad-number]\n"
     "  help: an octal number is written '0o7'"},
    {"0777",
     "1:1: a decimal number has no leading zeros [bad-number]\n"
     "  help: an octal number is written '0o777'"},
    {"1a", "1:2: unexpected 'a' after a number [bad-number]"},
    {"1.5a", "1:4: unexpected 'a' after a number [bad-number]"},
    {"12L",
     "1:3: unexpected 'L' after a number [bad-number]\n"
     "  help: integers have any size; they need no suffix"},
    {"1_000_", "1:6: '_' in a number must be before a digit [bad-number]"},
    {"1e5x", "1:4: unexpected 'x' after a number [bad-number]"},
    {"'\\x1'", "1:2: '\\x' needs two hexadecimal digits [bad-string]"},
    {"'\\u12'", "1:2: '\\u' needs four hexadecimal digits [bad-string]"},
    {"'\\U0012'", "1:2: '\\U' needs eight hexadecimal digits [bad-string]"},
    {"'\\U00110000'", "1:2: the largest character is '\\U0010ffff' [bad-string]"},
    {"'\\N'", "1:2: '\\N' needs the name of a character in '{…}' [bad-string]"},
    {"'\\N{a'", "1:2: '\\N' needs the name of a character in '{…}' [bad-string]"},
    {"b'\\x1'", "1:3: '\\x' needs two hexadecimal digits [bad-string]"},
    {"b'\303\251'",
     "1:3: bytes are written with ASCII characters only [bad-string]\n"
     "  help: write '\\xc3' for this byte"},
    {"'a' b'b'", "1:5: bytes and strings cannot be joined [syntax]"},
    {"b'a' 'b'", "1:6: bytes and strings cannot be joined [syntax]"},
    {"b'a' f'b'", "1:6: bytes and strings cannot be joined [syntax]"},
    {"f'b' b'a'", "1:6: bytes and strings cannot be joined [syntax]"},
    {"a ! b", "1:3: expected the end of the line, found '!' [syntax]"},
    {"a -> b", "1:3: expected the end of the line, found '->' [syntax]"},
};

static void test_tokens(void **state) {
    (void)state;
    py_text_check_errors(tokens, sizeof tokens / sizeof *tokens);
}

static const PyCase fstrings[] = {
    {"f'{}'", "1:4: expected an expression after '{' in an f-string, found '}' [syntax]"},
    {"f'{ }'", "1:5: expected an expression after '{' in an f-string, found '}' [syntax]"},
    {"f'{!r}'", "1:4: expected an expression after '{' in an f-string, found '!' [syntax]"},
    {"f'{:a}'", "1:4: expected an expression after '{' in an f-string, found ':' [syntax]"},
    {"f'{=}'", "1:4: expected an expression after '{' in an f-string, found '=' [syntax]"},
    {"f'}'",
     "1:3: unexpected '}' in an f-string [syntax]\n"
     "  help: a '}' in its text is written '}}'"},
    {"f'a}b'",
     "1:4: unexpected '}' in an f-string [syntax]\n"
     "  help: a '}' in its text is written '}}'"},
    {"f'{a b}'",
     "1:6: expected '}' after the value in an f-string, found 'b' [syntax]\n"
     "  note 1:3: the '{' is here"},
    {"f'{a'",
     "1:5: expected '}' before the end of the f-string [bad-string]\n"
     "  help: a '{' in the text of an f-string is written '{{'"},
    {"f'{a",
     "1:5: expected '}' after the value in an f-string, found the end of the file [syntax]\n"
     "  note 1:3: the bracket is opened here\n"
     "  note 1:3: the '{' is here"},
    {"f'{a!}'", "1:6: expected 'r', 's' or 'a' after '!' in an f-string, found '}' [syntax]"},
    {"f'{a!x}'", "1:6: expected 'r', 's' or 'a' after '!', found 'x' [syntax]"},
    {"f'{a!rr}'", "1:6: expected 'r', 's' or 'a' after '!', found 'rr' [syntax]"},
    {"f'{a!r b}'",
     "1:8: expected '}' after the value in an f-string, found 'b' [syntax]\n"
     "  note 1:3: the '{' is here"},
    {"f'{a:{b'",
     "1:7: expected '}' before the end of the f-string [bad-string]\n"
     "  help: a '{' in the text of an f-string is written '{{'"},
    {"f'{a:b'",
     "1:7: expected '}' after the value in an f-string, found the end of the f-string [syntax]\n"
     "  note 1:3: the '{' is here"},
    {"f'{a:{}}'", "1:7: expected an expression after '{' in an f-string, found '}' [syntax]"},
    {"f'{a:\\x1}'", "1:6: '\\x' needs two hexadecimal digits [bad-string]"},
    {"f'{a)}'",
     "1:5: expected '}' after the value in an f-string, found ')' [syntax]\n"
     "  note 1:3: the '{' is here"},
    {"f'{(a}'",
     "1:6: expected ')' after the expression, found '}' [syntax]\n"
     "  note 1:4: the bracket is opened here"},
    {"f'{lambda x: a}'",
     "1:13: expected an expression, found the text of an f-string [syntax]\n"
     "  help: a lambda in an f-string is in parentheses"},
    {"f'{a:{b c}}'",
     "1:9: expected '}' after the value in an f-string, found 'c' [syntax]\n"
     "  note 1:6: the '{' is here"},
    {"f'''{a\n"
     "b c\n",
     "2:1: expected '}' after the value in an f-string, found 'b' [syntax]\n"
     "  note 1:5: the '{' is here\n"
     "2:3: expected the end of the line, found 'c' [syntax]"},
    {"f\"{a[\"b]}\"",
     "1:11: expected ']' after the index, found the end of the file [syntax]\n"
     "  note 1:5: the bracket is opened here"},
    {"f'{a}' b c", "1:8: expected the end of the line, found 'b' [syntax]"},
    {"f'{a:}}'",
     "1:7: unexpected '}' in an f-string [syntax]\n"
     "  help: a '}' in its text is written '}}'"},
    {"f'{a = b}'",
     "1:8: expected '}' after the value in an f-string, found 'b' [syntax]\n"
     "  note 1:3: the '{' is here"},
    {"f'{a==}'", "1:7: expected an expression, found '}' [syntax]"},
    {"rf'\\{a b}'",
     "1:8: expected '}' after the value in an f-string, found 'b' [syntax]\n"
     "  note 1:5: the '{' is here"},
};

static void test_fstrings(void **state) {
    (void)state;
    py_text_check_errors(fstrings, sizeof fstrings / sizeof *fstrings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),       cmocka_unit_test(test_lines),
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_tokens),      cmocka_unit_test(test_fstrings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
