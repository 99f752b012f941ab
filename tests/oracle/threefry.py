"""Threefry-2x32 with 20 rounds unless said, for Python integers or int64 arrays of words.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
All arithmetic is modulo 2^32.  With k2 = 0x1BD11BDA xor k0 xor k1:

    start         x0 = c0 + k0,   x1 = c1 + k1
    round r       x0 = x0 + x1,   x1 = rotl(x1, R[r mod 8]) xor x0
    after rounds 4, 8, 12, 16, 20 (injection s = 1 .. 5):
                  x0 = x0 + k[s mod 3],   x1 = x1 + k[(s + 1) mod 3] + s

Streams of bits, by seed, name and purpose:

    key           threefry(seed, 0x6A786E65; d0, d1), 20 rounds, d the little-endian words of
                  blake2b(name 0 purpose), 8 bytes
    on the host   threefry(key; index, counter), 20 rounds
    in a step     threefry(k0, k1 xor (purpose 0x9E3779B9 mod 2^32); index, step), 13 rounds
    one word      of a unit in a step: of the two words at index 16 (unit div 32) + unit mod 16
                  the first if unit mod 32 < 16, else the second
"""

import hashlib

import numpy as np

MASK = 0xFFFFFFFF
PARITY = 0x1BD11BDA
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
ROUNDS = 20
STEP_ROUNDS = 13


def rotate_left(word, distance):
    """Rotate a 32-bit word to the left; 0 < distance < 32."""
    return ((word << distance) | (word >> (32 - distance))) & MASK


def threefry2x32(key0, key1, ctr0, ctr1, rounds=ROUNDS):
    """The two 32-bit words of counter (ctr0, ctr1) under key (key0, key1)."""
    for word in (key0, key1, ctr0, ctr1):
        if not np.all((word >= 0) & (word <= MASK)):
            raise ValueError(f"every word must be in 0 .. 2^32 - 1, got {word}")
    key = (key0, key1, PARITY ^ key0 ^ key1)
    x0 = (ctr0 + key[0]) & MASK
    x1 = (ctr1 + key[1]) & MASK
    for round_ in range(rounds):
        x0 = (x0 + x1) & MASK
        x1 = rotate_left(x1, ROTATIONS[round_ % 8]) ^ x0
        if round_ % 4 == 3:
            injection = round_ // 4 + 1
            x0 = (x0 + key[injection % 3]) & MASK
            x1 = (x1 + key[(injection + 1) % 3] + injection) & MASK
    return x0, x1


def stream_key(seed, name, purpose):
    """The key words of a stream."""
    digest = hashlib.blake2b(f"{name}\0{purpose}".encode(), digest_size=8).digest()
    words = (int.from_bytes(digest[at : at + 4], "little") for at in (0, 4))
    return threefry2x32(seed, 0x6A786E65, *words)


def step_bits(key, index, step, purpose=0):
    """The two words of the units `index` in a time step."""
    low = key[1] ^ (purpose * 0x9E3779B9 & MASK)
    return threefry2x32(key[0], low, index, step, STEP_ROUNDS)


def step_word(key, unit, step, purpose=0):
    """The one word of the units `unit` in a time step."""
    first, second = step_bits(key, unit // 32 * 16 + unit % 16, step, purpose)
    return np.where(unit % 32 < 16, first, second)
