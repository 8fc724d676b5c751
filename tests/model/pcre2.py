"""Regular expressions as PCRE2 reads them: the library itself, by its C interface."""
import ctypes
import functools

CASELESS = 0x00000008
_NO_MATCH = -1
_lib = ctypes.CDLL("libpcre2-8.so.0")
_lib.pcre2_compile_8.restype = ctypes.c_void_p
_lib.pcre2_compile_8.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int),
                                 ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p]
_lib.pcre2_match_data_create_from_pattern_8.restype = ctypes.c_void_p
_lib.pcre2_match_data_create_from_pattern_8.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_lib.pcre2_match_8.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint32,
                               ctypes.c_void_p, ctypes.c_void_p]


class Pattern:
    """Of bytes, with no option but the case of letters: a dot is no line feed, and `$` stands at the
    end or before a line feed that ends the text."""

    def __init__(self, source, folded):
        error, at = ctypes.c_int(), ctypes.c_size_t()
        self._code = _lib.pcre2_compile_8(source, len(source), CASELESS if folded else 0, ctypes.byref(error),
                                          ctypes.byref(at), None)
        if not self._code:
            raise ValueError(f"no regular expression of PCRE2 ({error.value} at {at.value}): {source}")
        self._data = _lib.pcre2_match_data_create_from_pattern_8(self._code, None)

    def search(self, text):
        found = _lib.pcre2_match_8(self._code, text, len(text), 0, 0, self._data, None)
        if found < _NO_MATCH:
            raise ValueError(f"PCRE2 gave up ({found})")
        return found >= 0


@functools.lru_cache(maxsize=None)
def compiled(source, folded):
    return Pattern(source, folded)
