#!/usr/bin/env python3
"""Registers, stack and shared memory of every instance of every kernel in a program, by cuobjdump.

instances.py PROGRAM [CUOBJDUMP]        prints Markdown

A kernel's stack holds what found no register, and arrays whose places are computed. Shared memory is what an instance
always has, on sm_90 1024 bytes of the card's own among them; what a launch adds is in the profiles (profile.py). It
needs c++filt.
"""
import re
import subprocess
import sys

USE = re.compile(r'REG:(\d+) STACK:(\d+) SHARED:(\d+)')


def read(program, cuobjdump):
    """[(kernel, its template's arguments, registers, stack, shared bytes)] of the machine code in a program."""
    text = subprocess.run([cuobjdump, '-res-usage', program], capture_output=True, text=True, check=True).stdout
    names = re.findall(r'^ Function (\S+):$', text, re.M)
    uses = [tuple(map(int, use)) for use in USE.findall(text)]
    if not names or len(names) != len(uses):
        raise ValueError(f'{program}: no kernels were found')
    plain = subprocess.run(['c++filt'], input='\n'.join(names), capture_output=True, text=True, check=True).stdout
    found = []
    for name, use in zip(plain.splitlines(), uses):
        name = re.sub(r'\(anonymous namespace\)::|\bgf_\w+::', '', name)
        name = re.sub(r'\(\w[\w ]*\)(?=-?\d)|(?<=\d)ul?\b', '', name)
        kernel, arguments = re.fullmatch(r'(?:void )?(\w+)(?:<(.*?)>)?\(.*', name).groups()
        found.append((kernel, (arguments or '').strip(), *use))
    return sorted(found)


def extent(numbers):
    """`least to most` of some numbers."""
    return str(min(numbers)) if min(numbers) == max(numbers) else f'{min(numbers)} to {max(numbers)}'


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        found = read(arguments[1], arguments[2] if len(arguments) == 3 else 'cuobjdump')
    except (OSError, ValueError, subprocess.CalledProcessError) as problem:
        print(f'instances.py: {problem}', file=sys.stderr)
        return 1
    print('| kernel | instances | registers | with a stack | of at most, bytes | shared memory, bytes |')
    print('|---|' + '---:|' * 5)
    for kernel in sorted({one[0] for one in found}):
        ones = [one for one in found if one[0] == kernel]
        stacks = [one[3] for one in ones if one[3]]
        print(f'| `{kernel}` | {len(ones)} | {extent([one[2] for one in ones])} | {len(stacks)} '
              f'| {max(stacks, default=0)} | {extent([one[4] for one in ones])} |')
    print('\n| kernel | instance | registers | stack | shared memory |\n|---|---|' + '---:|' * 3)
    for kernel, what, registers, stack, shared in found:
        print(f'| `{kernel}` | {what} | {registers} | {stack} | {shared} |')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
