// The loops of `short_term` for CPUs that know JAXNEURO_TARGET, in vectors of JAXNEURO_BYTES bytes, or
// number by number where JAXNEURO_BYTES is not defined.  Included by short_term.h, once for each kind
// of CPU; every function names the kind, as in gather_rows.h.  The vectors are written out: a
// compiler that finds them itself makes several loops of one, and none of what a spike does.

template <class Real>
struct JAXNEURO_LEVEL {
#if defined(JAXNEURO_BYTES)
  typedef Real Vector __attribute__((vector_size(JAXNEURO_BYTES)));
#else
  using Vector = Real;
#endif
  static constexpr size_t width = sizeof(Vector) / sizeof(Real);

  JAXNEURO_TARGET static JAXNEURO_INLINE Vector Load(const Real* from) {
    Vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }

  JAXNEURO_TARGET static JAXNEURO_INLINE void Store(Vector x, Real* to) {
    std::memcpy(to, &x, sizeof x);
  }

  // One step nearer to `rest`: the new number, and what it does not hold in `low`.
  JAXNEURO_TARGET static JAXNEURO_INLINE Vector Relaxed(Vector x, Real* low, Vector rest,
                                                        Vector loss) {
    const Vector below = Load(low);
    const Vector change = below + ((x - rest) + below) * loss;
    const Vector now = x + change, added = now - x;
    Store((x - (now - added)) + (change - added), low);
    return now;
  }

  // `width` sources without a spike.
  JAXNEURO_TARGET static JAXNEURO_INLINE void Relax(const ShortTermSources<Real>& s, size_t i) {
    const Vector zero = {}, one = zero + Real(1);
    Store(Relaxed(Load(s.x + i), s.x_low + i, one, Load(s.x_loss + i)), s.x + i);
    Store(Relaxed(Load(s.u + i), s.u_low + i, Load(s.adds + i), Load(s.u_loss + i)), s.u + i);
    Store(zero, s.released + i);
  }

  // What a spike does, where `spikes` is not 0.
  template <bool jump_first>
  JAXNEURO_TARGET static JAXNEURO_INLINE void Spike(const ShortTermSources<Real>& s,
                                                    const Real* spikes, size_t i) {
    const Vector zero = {}, one = zero + Real(1);
    const Vector u = Load(s.u + i), x = Load(s.x + i), jump = Load(s.adds + i) * (one - u);
    const auto spike = Load(spikes + i) != zero;
    const Vector jumped = u + (spike ? jump : zero);
    const Vector used = (jump_first ? jumped : u) * x;
    const Vector gone = spike ? used : zero;
    Store(jumped, s.u + i);
    Store(x - gone, s.x + i);
    Store(gone, s.released + i);
  }

  template <bool jump_first>
  JAXNEURO_TARGET static JAXNEURO_INLINE void Block(const ShortTermSources<Real>& s) {
    for (size_t i = 0; i < kShortTermBlock; i += width) Relax(s, i);
    if (!AnySpike(s.spikes)) return;  // most blocks of a network are silent
    Real spikes[kShortTermBlock];
    for (size_t i = 0; i < kShortTermBlock; ++i) spikes[i] = Real(s.spikes[i]);
    for (size_t i = 0; i < kShortTermBlock; i += width) Spike<jump_first>(s, spikes, i);
  }

  template <bool jump_first>
  JAXNEURO_TARGET static void Run(ShortTermSources<Real> s, size_t n) {
    Repeated<Real> repeated(s);
    for (; n >= kShortTermBlock; n -= kShortTermBlock, s.Skip(kShortTermBlock))
      Block<jump_first>(repeated.In(s));
    if (n == 0) return;
    Padded<Real> rest(repeated.In(s), n);
    Block<jump_first>(rest.sources());
    rest.CopyTo(s, n);
  }
};

#undef JAXNEURO_LEVEL
#undef JAXNEURO_TARGET
#undef JAXNEURO_BYTES
