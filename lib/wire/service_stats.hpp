#pragma once
#include "lib/l7/stream/checksum_trust.hpp"

#include <string>

namespace sluice {

// A declared service that is not off.
struct ServiceStats {
    std::string id;
    ChecksumTrust clients = ChecksumTrust::Learning;  // of the worker that trusts most
    ChecksumTrust servers = ChecksumTrust::Learning;

    static void fields(auto& archive, auto& m) {
        archive.word(m.clients, ChecksumTrust::Off);
        archive.word(m.servers, ChecksumTrust::Off);
        archive(m.id);
    }
};

}  // namespace sluice
