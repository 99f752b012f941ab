// The sums of `gather` for CPUs that know JAXNEURO_TARGET, in vectors of JAXNEURO_BYTES bytes.
// Included by gather.h, once for each kind of CPU; every function names the kind, since a compiler
// makes vectors of one before it knows where it is called from.
// No gather instruction: sixteen loads were faster on the CPU on which both were measured (Zen 5).

template <class Real, class Source, bool weighted>
struct JAXNEURO_LEVEL {
  static constexpr size_t width = JAXNEURO_BYTES / sizeof(Real), parts = kGatherLanes / width;
  using Vector = typename GatherVector<Real, width>::Type;

  JAXNEURO_TARGET static JAXNEURO_INLINE Vector Load(const Real* from) {
    Vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }

  // The values of `width` sources.
  JAXNEURO_TARGET static JAXNEURO_INLINE Vector Pick(const Real* v, const Source* s) {
    if constexpr (width == 2)
      return Vector{v[s[0]], v[s[1]]};
    else if constexpr (width == 4)
      return Vector{v[s[0]], v[s[1]], v[s[2]], v[s[3]]};
    else if constexpr (width == 8)
      return Vector{v[s[0]], v[s[1]], v[s[2]], v[s[3]], v[s[4]], v[s[5]], v[s[6]], v[s[7]]};
    else
      return Vector{v[s[0]],  v[s[1]],  v[s[2]],  v[s[3]], v[s[4]],  v[s[5]],
                    v[s[6]],  v[s[7]],  v[s[8]],  v[s[9]], v[s[10]], v[s[11]],
                    v[s[12]], v[s[13]], v[s[14]], v[s[15]]};
  }

  // `yes` where the row has an entry k, `no` elsewhere.
  JAXNEURO_TARGET static JAXNEURO_INLINE Vector Where(const int32_t* counts, int32_t k, Vector yes,
                                                      Vector no) {
#if defined(__GNUC__)
    using Integer = typename GatherInteger<sizeof(Real)>::Type;
    typename GatherVector<int32_t, width>::Type count;
    std::memcpy(&count, counts, sizeof count);
    const auto has = count > k;
    return __builtin_convertvector(has, typename GatherVector<Integer, width>::Type) ? yes : no;
#else
    return Vector::Each([&](size_t i) { return counts[i] > k ? yes.x[i] : no.x[i]; });
#endif
  }

  // Adds entry k of each row that has one; `all` says that all have one.
  template <bool all>
  JAXNEURO_TARGET static JAXNEURO_INLINE void Add(const Real* values, const Source* sources,
                                                  const int32_t* runs, const Real* weights,
                                                  const int32_t* counts, int32_t k, Vector* sums) {
    constexpr size_t pieces = width > kGatherRun ? 1 : kGatherLanes / kGatherRun;
    constexpr size_t each = parts / pieces;
    for (size_t piece = 0; piece < pieces; ++piece) {
      const size_t from = piece * each;
      const int32_t first = runs[piece];
      Vector x[each];
      if (first >= 0 && (pieces > 1 || runs[1] == first + int32_t(kGatherRun))) {
        for (size_t i = 0; i < each; ++i) x[i] = Load(values + size_t(first) + i * width);
      } else {
        for (size_t i = 0; i < each; ++i) x[i] = Pick(values, sources + (from + i) * width);
      }
      for (size_t i = 0; i < each; ++i) {
        if constexpr (weighted) x[i] = Load(weights + (from + i) * width) * x[i];
        const Vector sum = sums[from + i] + x[i];
        sums[from + i] = all ? sum : Where(counts + (from + i) * width, k, sum, sums[from + i]);
      }
    }
  }

  // The sums of one slice of `n` vectors.
  JAXNEURO_TARGET static JAXNEURO_INLINE void Slice(const Real* values, const Source* sources,
                                                    const int32_t* runs, const Real* weights,
                                                    const int32_t* counts, int32_t n, Real* out) {
    Vector sums[parts] = {};
    const int32_t whole = *std::min_element(counts, counts + kGatherLanes);
    for (int32_t k = 0; k < n; ++k) {
      if (k < whole)
        Add<true>(values, sources, runs, weights, counts, k, sums);
      else
        Add<false>(values, sources, runs, weights, counts, k, sums);
      sources += kGatherLanes;
      runs += kGatherLanes / kGatherRun;
      if constexpr (weighted) weights += kGatherLanes;
    }
    std::memcpy(out, sums, sizeof sums);
  }

  JAXNEURO_TARGET static void Run(const GatherSlices<Source>& slices, const Real* values,
                                  const Real* weights, size_t from, size_t to, Real* out) {
    for (size_t s = from; s < to; ++s) {
      const size_t start = size_t(slices.starts[s]) * kGatherLanes, row = s * kGatherLanes;
      const int32_t n = slices.starts[s + 1] - slices.starts[s];
      const Real* own = weighted ? weights + start : nullptr;
      const int32_t* runs = slices.runs + start / kGatherRun;
      if (row + kGatherLanes <= slices.rows) {
        Slice(values, slices.sources + start, runs, own, slices.counts + row, n, out + row);
      } else {
        const size_t rest = slices.rows - row;
        int32_t counts[kGatherLanes] = {};
        Real sums[kGatherLanes];
        std::copy_n(slices.counts + row, rest, counts);
        Slice(values, slices.sources + start, runs, own, counts, n, sums);
        std::copy_n(sums, rest, out + row);
      }
    }
  }
};

#undef JAXNEURO_LEVEL
#undef JAXNEURO_TARGET
#undef JAXNEURO_BYTES
