#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/text_field.hpp"

#include <string>
#include <string_view>

namespace sluice {

// A field as people read it (rules.md, "As text"): decimal numbers, flags 0 or 1, addresses as in
// RFC 5952, eth.type as 0x0800, MAC as aa:bb:cc:dd:ee:ff, Name fields by their word. Empty if the
// packet does not have it. `pair` is the text of the `port` field.
[[nodiscard]] std::string field_text(Field field, const PacketHeaders& headers, ByteView frame,
                                     std::string_view pair);

// One value of a Number, Flag, Mac or Name field in the same form.
[[nodiscard]] std::string value_text(Field field, std::uint64_t value, std::string_view pair);

// A number of a later layer, which is a text of decimal digits, in the same form: quic.version as
// 0x00000001. What is no number stays as it is.
[[nodiscard]] std::string number_text(const TextFieldRow& row, std::string_view digits);

}  // namespace sluice
