#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/dns/dns_message.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

// A DNS message of any bytes: no byte beyond them is read, names keep their bounds, and what is
// written of a name is a name again.
namespace {

using namespace sluice;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// The wire form of a name in presentation form.
std::string wire_of(ByteView text) {
    std::string wire;
    std::string label;
    const auto at = [&](std::size_t i) { return std::to_integer<unsigned char>(text[i]); };
    const auto end_label = [&] {
        wire += static_cast<char>(label.size());
        wire += label;
        label.clear();
    };
    if (text.size() == 1 && at(0) == '.') {
        return std::string(1, '\0');
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (at(i) == '.') {
            end_label();
        } else if (at(i) != '\\') {
            label += static_cast<char>(at(i));
        } else if (at(i + 1) >= '0' && at(i + 1) <= '9') {
            label += static_cast<char>((at(i + 1) - '0') * 100 + (at(i + 2) - '0') * 10 +
                                       (at(i + 3) - '0'));
            i += 3;
        } else {
            label += static_cast<char>(at(++i));
        }
    }
    end_label();
    return wire + '\0';
}

void check_question(ByteView message, const DnsQuestion& question) {
    require(question.end <= message.size());
    require(question.end >= question.name_at + 1 + kDnsQuestionTail);
    std::array<std::byte, kMaxDnsNameText> first;
    const std::size_t size = write_dns_name(message, question.name_at, first);
    require(size != 0 && size <= first.size());
    const ByteView text = ByteView{first}.first(size);
    const std::string wire = wire_of(text);
    require(wire.size() <= kMaxDnsName);
    const DnsNameWalk walk = walk_dns_name(bytes_of(wire), 0);
    require(walk.parsed == DnsParsed::Ok && walk.end == wire.size());
    require(walk_dns_name(message, question.name_at).steps <=
            kMaxDnsName / 2 + kMaxDnsPointers + 1);
    std::array<std::byte, kMaxDnsNameText> second;
    const std::size_t again = write_dns_name(bytes_of(wire), 0, second);
    require(again == size && std::equal(first.begin(), first.begin() + size, second.begin()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const ByteView message{reinterpret_cast<const std::byte*>(data), size};
    const DnsMessage parsed = parse_dns_message(message);
    if (parsed.parsed == DnsParsed::Ok) {
        check_question(message, parsed.first);
        const DnsQuestion next = parse_dns_question(message, parsed.first.end);
        if (next.parsed == DnsParsed::Ok) {
            check_question(message, next);
        }
    }
    require(!looks_like_dns(message) || parsed.parsed == DnsParsed::Ok);
    const DnsTcpFrame frame = split_dns_stream(message);
    require(frame.missing != 0 || (frame.end <= size && frame.message.size() + 2 == frame.end));
    return 0;
}
