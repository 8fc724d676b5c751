#include "dataplane/state/file_head.hpp"

#include "lib/bucket/hash/siphash.hpp"

#include <cstring>
#include <string>

namespace sluice {
namespace {

struct Head {
    std::array<char, 8> magic{};
    std::uint32_t version = 0;
    std::uint32_t zero = 0;
    std::uint64_t size = 0;
    std::uint64_t sum = 0;
};
static_assert(sizeof(Head) == 32);

std::uint64_t sum_of(ByteView body) {
    return siphash_1_3(HashSecret{}, body);
}

Error unreadable(const std::string& why) {
    return {Errc::BadSyntax, why};
}

}  // namespace

std::vector<std::byte> with_head(const FileKind& kind, std::vector<std::byte> body) {
    const Head head{kind.magic, kind.version, 0, body.size(), sum_of(body)};
    const auto* bytes = reinterpret_cast<const std::byte*>(&head);
    body.insert(body.begin(), bytes, bytes + sizeof(head));
    return body;
}

Result<ByteView> body_of(const FileKind& kind, ByteView file) {
    const std::string name{kind.name};
    Head head;
    if (file.size() < sizeof(head)) {
        return unreadable("it is cut off, or no " + name);
    }
    std::memcpy(&head, file.data(), sizeof(head));
    if (head.magic != kind.magic) {
        return unreadable("it is no " + name + ", or of a version before they had a head");
    }
    if (head.version != kind.version) {
        return unreadable("it is a " + name + " of version " + std::to_string(head.version) +
                          ", and this reads version " + std::to_string(kind.version));
    }
    const ByteView body = file.subspan(sizeof(head));
    if (body.size() != head.size) {
        return unreadable("it is cut off: " + std::to_string(body.size()) + " of " +
                          std::to_string(head.size) + " bytes are there");
    }
    if (sum_of(body) != head.sum) {
        return unreadable("its bytes are not those that were written");
    }
    return body;
}

}  // namespace sluice
