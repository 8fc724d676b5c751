#pragma once
#include "lib/l7/http1/texts.hpp"
#include "lib/l7/http1/wanted_headers.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice::http1 {

// Calls visit(place, value) for each cookie of a Cookie line's value that is wanted, in their
// order.
template <typename Visit>
void for_each_cookie(const ReadableText& list, const WantedHeaders& wanted,
                     Visit&& visit) noexcept {
    for_each_part(list, ';', [&](ByteView text) {
        const ReadableText pair = list.with(text);
        if (text.empty() || !wanted.cookies().may_begin_with(text.front())) {
            return;
        }
        const std::size_t equals = find_byte(pair, 0, '=');
        if (equals == text.size()) {
            return;
        }
        const std::uint8_t place = wanted.cookie(pair.with(without_blanks(text.first(equals))));
        if (place != NameTable::kNone) {
            visit(place, without_blanks(text.subspan(equals + 1)));
        }
    });
}

}  // namespace sluice::http1
