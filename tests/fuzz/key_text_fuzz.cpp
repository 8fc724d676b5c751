#include "lib/policy/keys/key_text.hpp"
#include "lib/rules/network_bans.hpp"
#include "lib/rules/text_part.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace sluice;

// The same of networks of keys: what is read is a shorter network, and spells itself.
void read_as_network(const GroupingKey& key, std::string_view text) {
    const std::span<const GroupingKey> keys{&key, 1};
    const Result<ReadKey> read = read_network_of_rule(keys, text, std::nullopt);
    if (!read) {
        return read.error().what.empty() ? std::abort() : void();
    }
    const Result<ReadKey> again = read_network_of_rule(keys, read->text, std::nullopt);
    if (network_of_key(read->bytes.view()).version == 0 || !again || again->text != read->text ||
        !std::ranges::equal(again->bytes.view(), read->bytes.view())) {
        std::abort();
    }
}

}  // namespace

// Any text as a key of any fields: what is read spells itself, and reads the same again. The first
// byte says how many parts the key has, and the bytes after it name their fields.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    GroupingKey key;
    const std::size_t parts = size == 0 ? 0 : data[0] % 4;
    if (size < 1 + parts) {
        return 0;
    }
    for (std::size_t i = 1; i <= parts; ++i) {
        if (data[i] >= 0xF0) {
            // All of them, named ones among them, by four bits here and two of the first byte.
            const unsigned field = (data[i] & 0xFU) | (data[0] & 0xCU) << 2;
            key.push_back({.text = static_cast<TextField>(field % kTextFieldCount),
                           .lower = (data[0] & 0x10U) != 0});
            continue;
        }
        key.push_back({static_cast<Field>(data[i] % kFieldCount),
                       static_cast<std::uint8_t>(data[i] % 33),
                       static_cast<std::uint8_t>(data[i] % 129)});
    }
    for (KeyPart& part : key) {
        part.unwrapping = Unwrapping{part.field == Field::ClientIp ? data[0] : std::uint8_t{0}};
    }
    give_room(key);
    const std::string_view text{reinterpret_cast<const char*>(data) + 1 + parts, size - 1 - parts};
    read_as_network(key, text);
    const Result<ReadKey> read = read_key_text(key, text);
    if (!read) {
        return read.error().what.empty() ? std::abort(), 0 : 0;
    }
    const bool has_pair = std::any_of(
        key.begin(), key.end(), [](const KeyPart& part) { return part.field == Field::Port; });
    const Result<ReadKey> again = read_key_text(key, read->text);
    if (!again || (!has_pair && again->text != read->text) ||
        !std::ranges::equal(again->bytes.view(), read->bytes.view())) {
        std::abort();
    }
    return 0;
}
