#include "lib/l7/dns/dns_message.hpp"
#include "lib/respond/answer/dns_answer.hpp"
#include "lib/respond/answer/edns_query.hpp"
#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Any bytes as a DNS query with additional records: the wishes found in its OPT record lie within
// it, and the answer made of them is no larger than it, is sound, and has an OPT record exactly if
// the query has, with the cookie as it came.
namespace {

using namespace sluice;
using test::require;

constexpr std::size_t kCookieHead = 4;

bool lies_within(ByteView part, ByteView whole) {
    return part.empty() || (part.data() >= whole.data() &&
                            part.data() + part.size() <= whole.data() + whole.size());
}

void check_wishes(const EdnsQuery& edns, ByteView query) {
    require(lies_within(edns.cookie, query));
    if (edns.cookie.empty() || edns.is_malformed) {
        return;
    }
    const std::size_t size = edns.cookie.size() - kCookieHead;
    require(load_be16(edns.cookie, 0) == 10 && load_be16(edns.cookie, 2) == size);
    require(size == 8 || (size >= 16 && size <= 40));
}

void check_answer(ByteView query, const std::optional<EdnsQuery>& edns, DnsAnswer kind) {
    std::vector<std::byte> room(query.size());
    const std::size_t size = write_dns_answer(query, kind, room);
    require(size <= query.size());
    if (size == 0) {
        return;
    }
    const ByteView answer = ByteView{room}.first(size);
    const DnsMessage made = parse_dns_message(answer);
    require(made.parsed == DnsParsed::Ok && made.is_response && made.questions == 1);
    const std::optional<EdnsQuery> again = find_edns(answer, made.first.end);
    require(again.has_value() == edns.has_value());
    if (!edns) {
        require(made.first.end == size);
        return;
    }
    // BADVERS leaves the version at 0 (RFC 6891, 6.1.3).
    require(again->is_version_0 && !again->is_malformed);
    require(again->dnssec_ok == edns->dnssec_ok);
    const ByteView cookie = edns->is_malformed ? ByteView{} : edns->cookie;
    require(std::equal(again->cookie.begin(), again->cookie.end(), cookie.begin(), cookie.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView query = std::as_bytes(std::span{data, size});
    const DnsMessage message = parse_dns_message(query);
    if (message.parsed != DnsParsed::Ok) {
        return 0;
    }
    const std::optional<EdnsQuery> edns = find_edns(query, message.first.end);
    if (edns) {
        check_wishes(*edns, query);
    }
    for (const DnsAnswer kind : {DnsAnswer::Truncated, DnsAnswer::Refused, DnsAnswer::Empty}) {
        check_answer(query, edns, kind);
    }
    return 0;
}
