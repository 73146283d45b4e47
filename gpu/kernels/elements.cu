// Elements of every type, and where they lie. Everything else loads elements
// into the type that is computed in and stores them back through this file.
//
// The kernels need no header: they are compiled on the machine that runs them.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define INLINE static __device__ __forceinline__
// Long functions are called, so that there is one of each and not one for each
// place that uses it: compiling all kernels should take seconds.
#define CALLED static __device__ __noinline__

// Arguments stay where the launch put them instead of being copied by each thread.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 12 && __CUDA_ARCH__ >= 700
#define ARGUMENT const __grid_constant__
#else
#define ARGUMENT const
#endif

// space is the positions of an operation in row-major order.
struct space {
	i64 shape[MAX_AXES];
	i64 count;
	int rank;
	int wide; // count needs more than 31 bits
};

// operand is a tensor: element (i, j, ...) is at address + (i·strides[0] +
// j·strides[1] + ...) elements. A number has its bits in place of the address.
struct operand {
	u64 address;
	i64 strides[MAX_AXES];
	int type;
	int bytes; // of an element
	int mode;
	int unused;
};
enum { mode_strided, mode_packed, mode_number }; // packed: row-major without gaps, and aligned to 4 elements

template <class To, class From> INLINE To bits_of(From from) {
	union {
		From from;
		To to;
	} u;
	u.from = from;
	return u.to;
}

// Codes of small floats. The formulas are those of package tensor, so that all
// codes come out the same.

INLINE float float16_value(u32 code) {
	u32 bits = (code & 0x7fff) << 13;
	u32 exponent = bits & 0x7c00u << 13;
	if (exponent == 0x7c00u << 13) { // infinity and NaN
		bits += (127 - 15 + 128 - 16) << 23;
	} else if (exponent == 0) { // subnormal: subtraction gives it its leading 1
		bits = bits_of<u32>(bits_of<float>(bits + (113u << 23)) - bits_of<float>(113u << 23));
	} else {
		bits += (127 - 15) << 23;
	}
	return bits_of<float>(bits | (code & 0x8000) << 16);
}

INLINE u32 float16_code(float x) {
	u32 bits = bits_of<u32>(x), sign = bits >> 16 & 0x8000;
	bits &= 0x7fffffff;
	if (bits > 0x7f800000) return sign | 0x7e00;
	if (bits >= (127 + 16) << 23) return sign | 0x7c00;
	if (bits < (127 - 14) << 23) return sign | (bits_of<u32>(bits_of<float>(bits) + 0.5f) - bits_of<u32>(0.5f)); // the last place of 0.5 is that of subnormals
	return sign | (bits - ((127 - 15) << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
}

INLINE float bfloat16_value(u32 code) { return bits_of<float>(code << 16); }

INLINE u32 bfloat16_code(float x) {
	u32 bits = bits_of<u32>(x);
	if (x != x) return bits >> 16 | 0x40; // cutting must not make infinity of NaN
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// Floats of 8 bits: mantissa bits below the leading 1, bias of the exponent.
INLINE float float8_value(u32 code, int mantissa, int bias) {
	u32 magnitude = code & 0x7f, sign = (code & 0x80) << 24;
	if (magnitude >> mantissa == 0) { // subnormal: a whole number of last places
		float unit = bits_of<float>((u32)(127 + 1 - bias - mantissa) << 23);
		return bits_of<float>(bits_of<u32>((float)magnitude * unit) | sign);
	}
	return bits_of<float>((magnitude << (23 - mantissa)) + ((u32)(127 - bias) << 23) | sign);
}

INLINE float e4m3_value(u32 code) {
	if ((code & 0x7f) == 0x7f) return bits_of<float>(0x7fc00000u);
	return float8_value(code, 3, 7);
}

INLINE float e5m2_value(u32 code) {
	u32 magnitude = code & 0x7f;
	if (magnitude > 0x7c) return bits_of<float>(0x7fc00000u);
	if (magnitude == 0x7c) return bits_of<float>(0x7f800000u | (code & 0x80) << 24);
	return float8_value(code, 2, 15);
}

// float8_code rounds a magnitude. What is too large for a code is left so.
INLINE u32 float8_code(u32 bits, int mantissa, int bias) {
	if (bits < (u32)(127 + 1 - bias) << 23) {
		u32 magic = (u32)(127 + 1 - bias + 23 - mantissa) << 23; // its last place is that of subnormals
		return bits_of<u32>(bits_of<float>(bits) + bits_of<float>(magic)) - magic;
	}
	int cut = 23 - mantissa;
	return (bits - ((u32)(127 - bias) << 23) + (1u << (cut - 1)) - 1 + (bits >> cut & 1)) >> cut;
}

INLINE u32 e4m3_code(float x) {
	u32 bits = bits_of<u32>(x), sign = bits >> 24 & 0x80;
	if (x != x) return sign | 0x7f;
	u32 code = float8_code(bits & 0x7fffffff, 3, 7);
	return sign | (code <= 0x7e ? code : 0x7f);
}

INLINE u32 e5m2_code(float x) {
	u32 bits = bits_of<u32>(x), sign = bits >> 24 & 0x80;
	if (x != x) return sign | 0x7e;
	u32 code = float8_code(bits & 0x7fffffff, 2, 15);
	return sign | (code <= 0x7b ? code : 0x7c);
}

// whole cuts a fraction. What no i64 can hold becomes the smallest, as on x86.
INLINE i64 whole(i64 x) { return x; }
INLINE i64 whole(double x) { return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (i64)x : (i64)(1ull << 63); }
INLINE i64 whole(float x) { return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (i64)x : (i64)(1ull << 63); }

template <class C> struct from {
	template <class T> INLINE C value(T x) { return (C)x; }
};
template <> struct from<i64> {
	INLINE i64 value(i64 x) { return x; }
	INLINE i64 value(double x) { return whole(x); }
	INLINE i64 value(float x) { return whole(x); }
	INLINE i64 value(int x) { return x; }
	INLINE i64 value(short x) { return x; }
	INLINE i64 value(signed char x) { return x; }
	INLINE i64 value(u8 x) { return x; }
};

// decode_any makes a value of the bits of an element of any type.
template <class C> CALLED C decode_any(u64 bits, int type) {
	switch (type) {
	case type_float32: return from<C>::value(bits_of<float>((u32)bits));
	case type_float64: return from<C>::value(bits_of<double>(bits));
	case type_float16: return from<C>::value(float16_value((u16)bits));
	case type_bfloat16: return from<C>::value(bfloat16_value((u16)bits));
	case type_e4m3: return from<C>::value(e4m3_value((u8)bits));
	case type_e5m2: return from<C>::value(e5m2_value((u8)bits));
	case type_int64: return from<C>::value((i64)bits);
	case type_int32: return from<C>::value((int)bits);
	case type_int16: return from<C>::value((short)bits);
	case type_int8: return from<C>::value((signed char)bits);
	default: return from<C>::value((u8)bits);
	}
}

// encode_any returns the bits of an element. Small floats are reached through
// float, as everywhere.
template <class C> CALLED u64 encode_any(C v, int type) {
	switch (type) {
	case type_float32: return bits_of<u32>((float)v);
	case type_float64: return bits_of<u64>((double)v);
	case type_float16: return float16_code((float)v);
	case type_bfloat16: return bfloat16_code((float)v);
	case type_e4m3: return e4m3_code((float)v);
	case type_e5m2: return e5m2_code((float)v);
	case type_bool: return v != 0;
	default: return (u64)whole(v); // the low bits of what is too large
	}
}

// The type that needs no conversion.
INLINE int native(float) { return type_float32; }
INLINE int native(double) { return type_float64; }
INLINE int native(i64) { return type_int64; }
INLINE void take(u64 bits, float &v) { v = bits_of<float>((u32)bits); }
INLINE void take(u64 bits, double &v) { v = bits_of<double>(bits); }
INLINE void take(u64 bits, i64 &v) { v = (i64)bits; }
INLINE u64 give(float v) { return bits_of<u32>(v); }
INLINE u64 give(double v) { return bits_of<u64>(v); }
INLINE u64 give(i64 v) { return (u64)v; }

// decode converts N elements. The type is the same for all threads, so asking for
// it costs little; what models are made of is converted in place.
template <int N, class C> INLINE void decode(const u64 *bits, int type, C *v) {
	const bool in_float = sizeof(C) == 4;
	if (type == native(C())) {
		_Pragma("unroll") for (int k = 0; k < N; k++) take(bits[k], v[k]);
	} else if (in_float && type == type_bfloat16) {
		_Pragma("unroll") for (int k = 0; k < N; k++) v[k] = (C)bfloat16_value((u32)bits[k]);
	} else if (in_float && type == type_float16) {
		_Pragma("unroll") for (int k = 0; k < N; k++) v[k] = (C)float16_value((u32)bits[k]);
	} else if (type == type_bool) {
		_Pragma("unroll") for (int k = 0; k < N; k++) v[k] = (C)(int)bits[k];
	} else {
		_Pragma("unroll") for (int k = 0; k < N; k++) v[k] = decode_any<C>(bits[k], type);
	}
}

template <int N, class C> INLINE void encode(const C *v, int type, u64 *bits) {
	const bool in_float = sizeof(C) == 4;
	if (type == native(C())) {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = give(v[k]);
	} else if (in_float && type == type_bfloat16) {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = bfloat16_code((float)v[k]);
	} else if (type == type_bool) {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = v[k] != 0;
	} else {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = encode_any<C>(v[k], type);
	}
}

// fetch reads the bits of N elements at some places.
template <int N> INLINE void fetch(u64 address, int bytes, const i64 *at, u64 *bits) {
	if (bytes == 4) {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = ((const u32 *)address)[at[k]];
	} else if (bytes == 2) {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = ((const u16 *)address)[at[k]];
	} else if (bytes == 1) {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = ((const u8 *)address)[at[k]];
	} else {
		_Pragma("unroll") for (int k = 0; k < N; k++) bits[k] = ((const u64 *)address)[at[k]];
	}
}

// fetch4 reads 4 elements that follow each other and are aligned.
INLINE void fetch4(u64 address, int bytes, i64 first, u64 *bits) {
	if (bytes == 4) {
		uint4 x = *(const uint4 *)(address + 4 * first);
		bits[0] = x.x, bits[1] = x.y, bits[2] = x.z, bits[3] = x.w;
	} else if (bytes == 2) {
		uint2 x = *(const uint2 *)(address + 2 * first);
		bits[0] = x.x & 0xffff, bits[1] = x.x >> 16, bits[2] = x.y & 0xffff, bits[3] = x.y >> 16;
	} else if (bytes == 1) {
		u32 x = *(const u32 *)(address + first);
		bits[0] = x & 0xff, bits[1] = x >> 8 & 0xff, bits[2] = x >> 16 & 0xff, bits[3] = x >> 24;
	} else {
		_Pragma("unroll") for (int k = 0; k < 4; k++) bits[k] = ((const u64 *)address)[first + k];
	}
}

// put and put4 write what fetch and fetch4 read; put only the first n.
INLINE void put(u64 address, int bytes, const i64 *at, const u64 *bits, int n) {
	_Pragma("unroll") for (int k = 0; k < 4; k++) {
		if (k >= n) return;
		if (bytes == 4)
			((u32 *)address)[at[k]] = (u32)bits[k];
		else if (bytes == 2)
			((u16 *)address)[at[k]] = (u16)bits[k];
		else if (bytes == 1)
			((u8 *)address)[at[k]] = (u8)bits[k];
		else
			((u64 *)address)[at[k]] = bits[k];
	}
}

INLINE void put4(u64 address, int bytes, i64 first, const u64 *bits) {
	if (bytes == 4) {
		uint4 x = {(u32)bits[0], (u32)bits[1], (u32)bits[2], (u32)bits[3]};
		*(uint4 *)(address + 4 * first) = x;
	} else if (bytes == 2) {
		uint2 x = {(u32)(u16)bits[0] | (u32)bits[1] << 16, (u32)(u16)bits[2] | (u32)bits[3] << 16};
		*(uint2 *)(address + 2 * first) = x;
	} else if (bytes == 1) {
		*(u32 *)(address + first) = (u32)(u8)bits[0] | (u32)(u8)bits[1] << 8 | (u32)(u8)bits[2] << 16 | (u32)(u8)bits[3] << 24;
	} else {
		_Pragma("unroll") for (int k = 0; k < 4; k++) ((u64 *)address)[first + k] = bits[k];
	}
}

// bytes_of returns the size of an element.
INLINE int bytes_of(int type) {
	switch (type) {
	case type_float32: case type_int32: return 4;
	case type_float64: case type_int64: return 8;
	case type_float16: case type_bfloat16: case type_int16: return 2;
	}
	return 1;
}

// load and store convert as well.
template <int N, class C> INLINE void load(u64 address, int type, const i64 *at, C *v) {
	u64 bits[N];
	fetch<N>(address, bytes_of(type), at, bits);
	decode<N>(bits, type, v);
}

template <class C> CALLED C load_converted(u64 address, int type, i64 at) {
	u64 bits;
	fetch<1>(address, bytes_of(type), &at, &bits);
	return decode_any<C>(bits, type);
}

template <class C> CALLED void store_converted(u64 address, int type, i64 at, C v) {
	u64 bits = encode_any<C>(v, type);
	put(address, bytes_of(type), &at, &bits, 1);
}

template <class C> INLINE C load1(u64 address, int type, i64 at) {
	return type == native(C()) ? ((const C *)address)[at] : load_converted<C>(address, type, at);
}

template <class C> INLINE void store1(u64 address, int type, i64 at, C v) {
	if (type == native(C()))
		((C *)address)[at] = v;
	else
		store_converted<C>(address, type, at, v);
}

CALLED i64 divide(i64 a, i64 b) { return a / b; }

// locate finds where N elements of a space lie in M operands, given the number of
// each element. strides(o) are those of operand o.
template <int N, int M, class Strides> INLINE void locate(const space &s, const i64 *number, Strides strides, i64 at[N][M]) {
	i64 left[N];
	_Pragma("unroll") for (int k = 0; k < N; k++) {
		left[k] = number[k];
		_Pragma("unroll") for (int o = 0; o < M; o++) at[k][o] = 0;
	}
	_Pragma("unroll 1") for (int axis = s.rank - 1; axis >= 0; axis--) {
		i64 size = s.shape[axis];
		_Pragma("unroll") for (int k = 0; k < N; k++) {
			i64 quotient = s.wide ? divide(left[k], size) : (u32)left[k] / (u32)size;
			i64 rest = left[k] - quotient * size;
			left[k] = quotient;
			_Pragma("unroll") for (int o = 0; o < M; o++) at[k][o] += rest * strides(o)[axis];
		}
	}
}

// place is locate for one element of one operand.
CALLED i64 place_in(const space &s, const i64 *strides, i64 i) {
	i64 at[1][1];
	locate<1, 1>(s, &i, [&](int) { return strides; }, at);
	return at[0][0];
}

INLINE i64 place(const space &s, const i64 *strides, i64 i) { return s.rank <= 1 ? i * strides[0] : place_in(s, strides, i); }
