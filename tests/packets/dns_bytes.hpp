#pragma once
#include "lib/base/bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// DNS messages byte by byte, for tests.
namespace sluice::test {

// A name of labels with dots between them, in wire form.
[[nodiscard]] inline std::string dns_labels(std::string_view name) {
    std::string wire;
    while (!name.empty()) {
        const std::string_view label = name.substr(0, name.find('.'));
        name.remove_prefix(std::min(label.size() + 1, name.size()));
        wire += static_cast<char>(label.size());
        wire += label;
    }
    return wire + '\0';
}

[[nodiscard]] inline std::string be16_text(std::uint16_t value) {
    return {static_cast<char>(value >> 8), static_cast<char>(value & 0xFF)};
}

struct DnsText {
    std::uint16_t id = 0x1234;
    std::uint16_t flags = 0x0100;  // RD
    std::uint16_t questions = 1;
    std::uint16_t answers = 0;
    std::uint16_t authorities = 0;
    std::uint16_t additionals = 0;
    std::string body;

    [[nodiscard]] std::string wire() const {
        return be16_text(id) + be16_text(flags) + be16_text(questions) + be16_text(answers) +
               be16_text(authorities) + be16_text(additionals) + body;
    }
};

[[nodiscard]] inline std::string dns_question(std::string_view name, std::uint16_t type = 1,
                                              std::uint16_t in_class = 1) {
    return dns_labels(name) + be16_text(type) + be16_text(in_class);
}
[[nodiscard]] inline std::string dns_query(std::string_view name, std::uint16_t type = 1) {
    return DnsText{.body = dns_question(name, type)}.wire();
}
[[nodiscard]] inline std::string dns_response(std::string_view name, std::uint16_t type = 1) {
    return DnsText{.flags = 0x8180, .body = dns_question(name, type)}.wire();
}

[[nodiscard]] inline std::vector<std::byte> message_octets(std::string_view text) {
    const ByteView bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
}

}  // namespace sluice::test
