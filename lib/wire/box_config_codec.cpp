#include "lib/wire/box_config_codec.hpp"

#include "lib/wire/config_fields.hpp"

#include <string>

namespace sluice {

void serialize(auto& archive, Of<ManagedService> auto& m) {
    archive(m.proto, m.port);
}
template <typename Archive>
void serialize(Archive& archive, Of<VersionedAddress> auto& m) {
    archive.word(m.version, IpVersion::V6);
    archive(m.address.bytes);
    archive.check(m.version == IpVersion::V4 || m.version == IpVersion::V6);
}

std::vector<std::byte> encode(const BoxConfig& config) {
    Writer out;
    out(kBoxConfigVersion, config);
    return out.take();
}

Result<BoxConfig> decode_box_config(ByteView bytes) {
    if (bytes.size() > kMaxBoxConfigSize) {
        return Error{Errc::BadSyntax, "the configuration is larger than 1 MiB"};
    }
    Reader in{bytes};
    std::uint32_t version = 0;
    in(version);
    if (in.ok() && version != kBoxConfigVersion) {
        return Error{Errc::BadSyntax, "the configuration is of version " + std::to_string(version) +
                                          ", and this reads version " +
                                          std::to_string(kBoxConfigVersion)};
    }
    BoxConfig config;
    in(config);
    if (!in.finished()) {
        return Error{Errc::BadSyntax, "the configuration is cut off, or is none"};
    }
    if (const std::optional<std::string> fault = find_fault(config)) {
        return Error{Errc::OutOfRange, "the configuration is not sound: " + *fault};
    }
    return config;
}

}  // namespace sluice
