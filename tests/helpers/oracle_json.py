#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# oracle_json.py STEPS <LINES >TOKENS: what a path into lines of JSON leads to, by Python's json: a token for
# each line that counts, which is `x` if the line is invalid. STEPS is the path as a list, as in '["a", 0]'.
# Says on standard error what is wrong with the first line that is invalid: "LINE not valid JSON", "LINE no" if
# the path leads nowhere, or "LINE not a number".
#
# oracle_json.py --lines=KIND >LINES: lines by hand, of KIND valid or broken; cut: valid ones, each cut at every
# byte and with every byte changed; long: ordinary ones, 2,000 times.
import json
import sys

sys.setrecursionlimit(20000)

VALID = r'''
{"a":1}
{"a" : 2.5e-3 , "b" : [ ] }
{"a":{"b":3},"b":{"a":4}}
{"b":{"a":{"b":5}},"a":{"b":6}}
{"a":[{"b":7},{"b":8}]}
{"a":[1,[2,[3]],{"b":[4]}]}
{"a":1,"a":2,"a":3}
{"a":{"b":1},"a":2}
{"a":2,"a":{"b":9}}
{"a":[1],"a":[]}
{"a":18446744073709551615}
{"a":-0}
{"a":0}
{"a":0.0e0}
{"a":1E400}
{"a":-9007199254740993}
{"a":123456789012345678901234567890}
{"a":0.1234567890123456789}
{"a":"12"}
{"a":" 12.5 "}
{"a":""}
{"a":"x"}
{"a":"+5"}
{"a":"1 2"}
{"a":null}
{"a":true,"b":false}
{"a":{}}
{"a":[]}
{"a":"}","b":"{[:,\"\\"}
{"x":"\"a\":1","a":10}
{"x":"\\","a":11}
{"x":"\\\"","a":12}
{"x":"\/\b\f\n\r\t","a":13}
{"\u0061":14}
{"\u0061\u0062":15,"ab":16}
{"a\u0000":1,"a":17}
{"é":18}
{"\u00e9":19}
{"\u00E9":20,"é":21}
{"😀":22}
{"\ud83d\ude00":23}
{"\uD83D\uDE00":24,"😀":25}
{"":26}
{"a b":27,"a":28}
{"a.b":29}
{"a[0]":30,"a":[31]}
{"latency_ms":32,"latency":33,"latency_m":34}
{"a name that is longer than sixteen bytes":35,"a name that is longer than sixteen bytez":1}
[]
[36]
[[37],{"a":38}]
39
"40"
null
  {"a":41}  
	{	"a"	:	42	}	
{"a":[true,false,null,"",{},[],0]}
{"x":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]],"a":43}
{"x":"................................................................................................","a":44}
{"x":"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"","a":45}
{                                                                                                    "a":46}
'''

BROKEN = r'''
{
}
{"a":1
{"a":1}}
{"a":1} x
{"a":1}{"a":2}
{"a":1},
{"a":1,}
{,"a":1}
{"a":1,,"b":2}
{"a"}
{"a":}
{"a" 1}
{"a"::1}
{"a":1 "b":2}
{"a":1;"b":2}
{"a":1 2}
{"a":1,"b"}
{"a":1,"b":}
{"a":1,2}
{a:1}
{'a':1}
{"a":'1'}
{"a":1,1:2}
{1:1}
{"a":"1}
{"a:1}
{"a":1"}
{"a":1,"b":[}
{"a":1,"b":[1}
{"a":1,"b":{]}
{"a":1,"b":[1,]}
{"a":1,"b":[,1]}
{"a":1,"b":[1,,2]}
{"a":1,"b":[1 2]}
{"a":1,"b":[1:2]}
{"a":1,"b":["x":2]}
{"a":1,"b":["x""y"]}
{"a":1,"b":["x"1]}
{"a":1,"b":[1"x"]}
{"a":1,"b":[[]1]}
{"a":1,"b":[{}"x"]}
{"a":1,"b":[][]}
{"a":1,"b":{}{}}
{"a":1]
["a":1}
["a",1
["a",
[
]
[1]]
[1],
[1}
{"a":01}
{"a":-01}
{"a":00}
{"a":+1}
{"a":.5}
{"a":1.}
{"a":1.e5}
{"a":1e}
{"a":1e+}
{"a":1.2.3}
{"a":1-2}
{"a":--1}
{"a":-}
{"a":0x10}
{"a":1_000}
{"a":1,000}
{"a":NaN}
{"a":nan}
{"a":Infinity}
{"a":-Infinity}
{"a":inf}
{"a":True}
{"a":tru}
{"a":truee}
{"a":nul}
{"a":nulll}
{"a":undefined}
{"a":1,"b":TRUE}
{"a":1,"b":falsE}
{"a":1,"b":123abc}
{"a":1,"b":12345678901234567890x}
{"a":1,"b":"\x"}
{"a":1,"b":"\u12"}
{"a":1,"b":"\u123g"}
{"a":1,"b":"\U0041"}
{"a":1,"b":"\"}
{"a":1,"b":"\ "}
{"a":1,"b":"	"}
{"a":1,"b":""}
{"a":1,"	":1}
{"a":1,"b":\"x\"}
{"a":1}\
\
{"a":1} // x
{"a":1} # x
/* x */{"a":1}
{"a":1,"b":1}
﻿{"a":1}
{"a":1} 
x
"
"a
'a'
+1
.5
1.
-
01
,
:
é
{"é":1é}
'''


class Number(str):
    """A number as it was written."""


def parse(line):
    def refuse(name):
        raise ValueError(name)

    return json.loads(line.decode("utf-8", "surrogateescape"), parse_int=Number, parse_float=Number, parse_constant=refuse)


def follow(value, steps):
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return None, False
            value = value[step]
        else:
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return None, False
            value = value[step]
    return value, True


def token(value):
    if isinstance(value, str):
        text = value if isinstance(value, Number) else value.strip(" \t\n\v\f\r")
        if text and not set(text) & set(" \t\n\v\f\r"):
            return text.encode("utf-8", "surrogateescape")
    return b"x"


def is_number(text):
    body = text.lower().lstrip(b"+-") if text[:1] in b"+-" and text[1:2] not in b"+-" else text.lower()
    if body in (b"inf", b"infinity"):
        return True
    if not body or body[:1] not in b"0123456789." or set(body) - set(b"0123456789.e+-"):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def read(steps):
    told = False
    for number, line in enumerate(sys.stdin.buffer.read().split(b"\n"), 1):
        what, text = "not valid JSON", b"x"
        if not line.strip(b" \t\r"):
            continue
        try:
            value, there = follow(parse(line), steps)
            text = token(value) if there else b"x"
            what = ("not a number" if not is_number(text) else "") if there else "no"
        except ValueError:
            pass
        if what and not told:
            print(number, what, file=sys.stderr)
            told = True
        sys.stdout.buffer.write(text + b"\n")


def write(kind):
    valid = [line.encode() for line in VALID.split("\n") if line]
    out = sys.stdout.buffer
    if kind == "valid":
        out.write(b"".join(line + b"\n" for line in valid))
        out.write(b'{"\xff":1,"a":47}\n{"a":"\xff"}\r\n\r\n \n{"a":48}')
    elif kind == "broken":
        lines = [line.encode() for line in BROKEN.split("\n") if line]
        lines += [b'{"a":1,"b":"\0"}', b'{"a":1}\0', b'{"a":1\f}', b'{"a":1\xa0}', b"\0"]
        out.write(b"\r\n".join(lines))
    elif kind == "cut":
        for line in valid:
            for at in range(len(line)):
                out.write(line[:at] + b"\n")
                out.write(b"".join(line[:at] + bytes([byte]) + line[at + 1 :] + b"\n" for byte in b'"\\{},: 1x\x01'))
    else:
        for i in range(2000):
            out.write(b'{"time":"2026-11-22T08:%02d:00Z","a":{"b":%d.%d},"x":[%d,{"b":null}]}\n' % (i % 60, i, i % 7, i))
            out.write(valid[i % len(valid)] + b"\r\n" * (i % 3 > 0) + b"\n")
            out.write(b'{"b":"%s","a":[%d,"%d"]}\n' % (b"\\\\" * (i % 90), i, i * i))


if sys.argv[1].startswith("--lines="):
    write(sys.argv[1].partition("=")[2])
else:
    read(json.loads(sys.argv[1]))
