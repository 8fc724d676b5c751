#include "lib/l7/stream/datagram_assembly.hpp"
#include "tests/fuzz/input.hpp"

#include <map>
#include <set>

namespace {

using namespace sluice;
using test::FuzzInput;
using test::require;

struct Slow {
    std::map<std::uint32_t, std::byte> come;
    std::set<std::uint32_t> again;  // since it was judged
    bool judged = false;
};

}  // namespace

// Fragments of four datagrams in a table of three rooms: what is whole has the bytes that came,
// each of which came once, and behind it nothing but copies passes until the time is over: when all
// bytes have come again, it is whole once more.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input{data, data + size};
    DatagramAssembly assembly{{.datagrams = 16, .rooms = 3, .rooms_per_source = 2}};
    std::map<std::uint64_t, Slow> slow;
    Instant now{std::chrono::hours{1}};
    while (!input.empty()) {
        const unsigned what = input.byte();
        const std::uint64_t digest = 1 + what % 4 * 0x1'0000'0001;
        if (what / 4 % 16 == 15) {
            now += std::chrono::seconds{61};
            slow.clear();
        }
        const std::uint32_t offset = (input.byte() % 16) * (what >= 0xF0 ? 4096U : 8U);
        const ByteView bytes = input.bytes(input.byte() % 64);
        const DatagramPart part{.digest = digest,
                                .source = what % 2,
                                .offset = offset,
                                .more = (what & 0x40) != 0,
                                .bytes = bytes};
        const AssemblyResult result = assembly.take(part, now);
        if (passes(result.outcome)) {
            Slow& known = slow[digest];
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                const auto at = offset + static_cast<std::uint32_t>(i);
                const auto [place, is_new] = known.come.emplace(at, bytes[i]);
                require(place->second == bytes[i]);
                require(!is_new || !known.judged);
                if (known.judged) {
                    known.again.insert(at);
                }
            }
        }
        if (result.outcome == AssemblyOutcome::Whole) {
            Slow& known = slow[digest];
            require(known.come.size() == result.datagram.size());
            require(!known.judged || known.again.size() == known.come.size());
            known.again.clear();
            for (const auto& [at, byte] : known.come) {
                require(result.datagram[at] == byte);
            }
            known.judged = true;
            assembly.settle(digest, (what & 0x80) == 0);
            require(assembly.is_refused(digest) == ((what & 0x80) != 0));
        }
        require(assembly.rooms() <= 3 && assembly.size() <= 16);
    }
    return 0;
}
