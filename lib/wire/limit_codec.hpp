#pragma once
#include "lib/meter/any_limit.hpp"
#include "lib/wire/bytes_io.hpp"

namespace sluice {

// The numbers of a limit, after the number of its algorithm. What is read goes through the same
// doors as what people write, so nothing unchecked gets in; anything else fails the message.
void put_numbers(Writer& out, const AnyLimit& limit);
[[nodiscard]] AnyLimit get_numbers(Reader& in);

}  // namespace sluice
