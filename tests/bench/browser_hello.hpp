#pragma once
#include "tests/unit/l7/hello_maker.hpp"

#include <string_view>

namespace sluice::bench {

// As browsers send them: 16 suites, 17 extensions, a key share of the size of ML-KEM's.
inline test::HelloMaker browser_hello(std::string_view name) {
    test::HelloMaker maker;
    maker.ciphers(test::pairs({0x3A3A, 0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030,
                               0xCCA9, 0xCCA8, 0xC013, 0xC014, 0x009C, 0x009D, 0x002F, 0x0035}));
    maker.extension(0x1A1A, {})
        .sni(name)
        .alpn({"h2", "http/1.1"})
        .versions({0xDADA, 0x0304, 0x0303});
    maker.algorithms({0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601});
    for (const unsigned type : {0x000AU, 0x000BU, 0x0005U, 0x0012U, 0x0017U, 0x001BU, 0x0023U,
                                0x002DU, 0x44CDU, 0xFE0DU, 0xFF01U}) {
        maker.extension(type, test::Octets(12));
    }
    return maker;
}

}  // namespace sluice::bench
