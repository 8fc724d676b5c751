#pragma once
#include "lib/engine/burst/burst_units.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

// A made-up protocol whose units have any texts of the table, for what is made of texts once a
// parser has found them: UDP to port 7778, a unit on each line, words of which are its texts.
//
//   http.request.uri.path=/login http.host=example.com
//
// `client` stands for the last header that names clients.
namespace sluice::test {

inline constexpr std::uint16_t kTextsPort = 7778;

[[nodiscard]] inline Frame units(std::string_view text) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return udp().src("10.0.0.1").dport(kTextsPort).carries({bytes.begin(), bytes.end()});
}

// Takes all up to `mark` off, and the mark.
[[nodiscard]] inline std::string_view take_up_to(std::string_view& rest, char mark) {
    const std::string_view taken = rest.substr(0, rest.find(mark));
    rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
    return taken;
}

// A parser of it. Each unit is a request.
[[nodiscard]] inline UnitFinder texts_finder() {
    static constexpr auto kSet = [](std::string_view word, UnitSink& sink,
                                    UnitTexts& texts) noexcept {
        const std::string_view name = take_up_to(word, '=');
        for (const TextField field : kAllTextFields) {
            const bool is_it = field == kClientHeader
                                   ? name == "client"
                                   : !is_named(field) && row_of(field).name == name;
            if (is_it) {
                std::memcpy(sink.room().data(), word.data(), word.size());
                texts.set(field, sink.keep(word.size()));
            }
        }
    };
    constexpr auto kFind = [](void*, const UnitSource& packet, UnitSink& sink) noexcept {
        if (!packet.headers.fields.has(Field::L4Dport) || packet.headers.dport != kTextsPort) {
            return;
        }
        const ByteView payload = *read_payload(packet.headers, packet.frame.bytes);
        std::string_view rest{reinterpret_cast<const char*>(payload.data()), payload.size()};
        while (!rest.empty()) {
            std::string_view line = take_up_to(rest, '\n');
            UnitTexts* const texts = sink.add(Per::Request);
            while (texts != nullptr && !line.empty()) {
                kSet(take_up_to(line, ' '), sink, *texts);
            }
        }
    };
    TextFieldSet all;
    for (const TextField field : kAllTextFields) {
        all.add(field);
    }
    return {.find = kFind, .parser = nullptr, .texts = all};
}

}  // namespace sluice::test
