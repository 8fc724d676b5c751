#pragma once
#include "lib/engine/burst/burst_units.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

// A made-up protocol of several units in a packet, for what layer 7 will bring: UDP to port 7777,
// each line of whose payload is one unit. The first letter says which, and the text of the unit
// stands in the place of the packet's payload.
//
//   R /Path    a request, its text the path in small letters, which no frame holds
//   Q name     a query, the same
//   H name     a handshake, the same
//   r /path    a request whose text is a part of the frame
namespace sluice::test {

inline constexpr std::uint16_t kLinesPort = 7777;

[[nodiscard]] inline Frame lines(std::string_view text) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return udp().src("10.0.0.1").dport(kLinesPort).carries({bytes.begin(), bytes.end()});
}

class LineParser {
public:
    [[nodiscard]] UnitFinder finder() {
        return {.find = &find, .parser = this, .texts = {TextField::Payload}};
    }
    [[nodiscard]] std::size_t seen() const { return seen_; }

private:
    static void find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
        if (!packet.headers.fields.has(Field::L4Dport) || packet.headers.dport != kLinesPort) {
            return;
        }
        const ByteView payload = *read_payload(packet.headers, packet.frame.bytes);
        std::string_view rest{reinterpret_cast<const char*>(payload.data()), payload.size()};
        while (!rest.empty()) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            if (line.size() >= 2 && !add(line, units)) {
                return;
            }
            ++static_cast<LineParser*>(parser)->seen_;
        }
    }
    static bool add(std::string_view line, UnitSink& units) noexcept {
        const Per kind = line[0] == 'Q'   ? Per::Query
                         : line[0] == 'H' ? Per::Handshake
                                          : Per::Request;
        UnitTexts* const texts = units.add(kind);
        if (texts == nullptr) {
            return false;
        }
        const std::string_view text = line.substr(2);
        if (line[0] == 'r') {
            texts->set(TextField::Payload, std::as_bytes(std::span{text}));
            return true;
        }
        const std::span<std::byte> room = units.room();
        if (room.size() < text.size()) {
            units.refuse();
            return false;
        }
        std::transform(text.begin(), text.end(), room.begin(),
                       [](unsigned char c) { return static_cast<std::byte>(std::tolower(c)); });
        texts->set(TextField::Payload, units.keep(text.size()));
        return true;
    }

    std::size_t seen_ = 0;
};

// Rules from a text, in which the name of a limit says that it counts units of a later layer.
[[nodiscard]] inline RuleSet rules_over_units(std::string_view text) {
    RuleSet rules = enforced({.file = "rules", .text = text}).set;
    for (Rule& rule : rules.rules) {
        for (MeteredLimit& limit : rule.limits) {
            limit.per = limit.name.starts_with("request")     ? Per::Request
                        : limit.name.starts_with("query")     ? Per::Query
                        : limit.name.starts_with("handshake") ? Per::Handshake
                                                              : limit.per;
        }
    }
    return rules;
}

// A worker with that parser.
struct UnitBox : LineParser, Box {
    explicit UnitBox(std::string_view rules, BucketStore buckets = BucketStore{4096, 4096})
        : Box{rules_over_units(rules), std::move(buckets)} {
        find_units_by(finder());
    }
};

}  // namespace sluice::test
