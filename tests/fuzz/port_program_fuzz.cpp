#include "lib/packet/ethernet.hpp"
#include "lib/packet/neighbour_discovery.hpp"
#include "lib/packet/parse.hpp"
#include "tests/unit/dataplane/xdp/program_box.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

// A frame through the program in the kernel, and through the parser of the box: the same source
// found, or none by either. Wants root; without it the target skips itself.
namespace sluice::test {
namespace {

constexpr int kSkipped = 77;  // as an exit code: what meson and scripts/test take it for
constexpr std::size_t kMostTried = 2048;  // bytes: what the kernel runs a program over
enum Row : std::uint32_t { kAnyV4, kAnyV6, kSource };

std::unique_ptr<ProgramBox> box;

IpPrefix whole(const VersionedAddress& address) {
    return {address.version, address.address,
            static_cast<std::uint8_t>(address.version == IpVersion::V4 ? 32 : 128)};
}

// Whether it has more tags or labels than the program steps over: such frames are the box's.
bool is_deep(ByteView frame, const PacketHeaders& headers) {
    std::size_t at = 12;
    int tags = 0;
    for (; is_vlan_type(load_be16(frame, at)); at += kVlanTagSize) {
        ++tags;
    }
    const std::size_t before = load_be16(frame, at) == kTypePppoeSession ? kPppoeSize + 2 : 0;
    const std::size_t labels_end = headers.outer_l3_at;
    return tags > SLUICE_MOST_TAGS ||
           labels_end > at + 2 + before + SLUICE_MOST_LABELS * kMplsLabelSize;
}

// The row that the program has counted the frame in; nullopt: it has found no source.
std::optional<std::uint32_t> counted_in(ByteView frame) {
    std::array<std::uint64_t, 3> before{};
    for (const std::uint32_t row : {kAnyV4, kAnyV6, kSource}) {
        before[row] = box->dropped_early(row);
    }
    if (!box->run(frame)) {
        std::abort();
    }
    std::optional<std::uint32_t> in;
    for (const std::uint32_t row : {kAnyV4, kAnyV6, kSource}) {
        const std::uint64_t more = box->dropped_early(row) - before[row];
        if (more > 1 || (more == 1 && in)) {
            std::abort();
        }
        in = more == 1 ? std::optional{row} : in;
    }
    return in;
}

void check(ByteView frame) {
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, Tunnels{}, headers);
    if (!headers.fields.has(Field::IpSrc)) {
        if (counted_in(frame)) {
            std::abort();
        }
        return;
    }
    const EarlyDrop source = early_drop(whole({headers.ip_version, headers.src}), kSource);
    if (!box->table().add(source, 1)) {
        std::abort();
    }
    const std::optional<std::uint32_t> in = counted_in(frame);
    box->table().remove(source.network);
    const bool is_left = is_neighbour_discovery(headers);
    if (in ? *in != kSource || is_left : !is_deep(frame, headers) && !is_left) {
        std::abort();
    }
}

}  // namespace
}  // namespace sluice::test

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    using namespace sluice::test;
    if (!ProgramBox::is_possible()) {
        std::fputs("skipped: programs in the kernel want root\n", stderr);
        std::exit(kSkipped);
    }
    box = std::make_unique<ProgramBox>(3);
    std::atexit([] { box.reset(); });
    const sluice::EarlyDrop any[] = {early_drop({sluice::IpVersion::V4, {}, 0}, kAnyV4),
                                     early_drop({sluice::IpVersion::V6, {}, 0}, kAnyV6)};
    if (box->table().publish(any) != 2) {
        std::abort();
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < sluice::kEthernetSize || size > sluice::test::kMostTried) {
        return -1;
    }
    sluice::test::check(std::as_bytes(std::span{data, size}));
    return 0;
}
