#pragma once
#include "lib/wire/bytes_io.hpp"
#include "lib/wire/message.hpp"

// What is said about single keys: one that is asked for, and those counted most.
namespace sluice {

void put_ask_key(Writer& out, const AskKey& ask);
[[nodiscard]] AskKey get_ask_key(Reader& in);
void put_key_state(Writer& out, const KeyState& state);
[[nodiscard]] KeyState get_key_state(Reader& in);

void put_get_top(Writer& out, const GetTop& ask);
[[nodiscard]] GetTop get_get_top(Reader& in);
void put_top(Writer& out, const Top& top);
[[nodiscard]] Top get_top(Reader& in);

}  // namespace sluice
