if a
    b
if a: 
if a:
b
if a:
if:
    a
if a = b: c
if a == b = c:
    d
if a:
    b
else
    c
if a:
    b
else if c:
    d
if a:
    b
elif
    c
iff a:
    b
else:
    c
d e
else:
    a
elif a:
    b
except a:
    b
finally:
    a
while a
    b
while: a
for a b:
    c
for a in:
    b
for in b: c
for a in b
    c
for a in b:
c
try:
    a
try:
    a
b
try:
    a
else:
    b
try:
    a
except a, b:
    c
try:
    a
except a as:
    b
try:
    a
except a as b.c:
    b
try: a
except*: b
try: a
except b: c
except* d: e
try
    a
except: b
with a as b
    c
with: a
with (a as b, c: d
with (a as b c): d
with a as: b
with a b: c
with (
    a as b
def f(): c
