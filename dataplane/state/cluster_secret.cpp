#include "dataplane/state/cluster_secret.hpp"

#include "lib/base/read_file.hpp"
#include "lib/bucket/hash/aes_hash.hpp"
#include "lib/bucket/hash/cluster_secret.hpp"

#include <cstddef>
#include <optional>

#include <sys/stat.h>

namespace sluice {
Result<HashSecret> read_cluster_secret(const std::string& file) {
    constexpr std::size_t kMost = 64;
    if (!AesHash::works_here()) {
        return Error{Errc::Refused,
                     "this CPU has no AES instructions, by which the boxes of a cluster name "
                     "their keys: it can be in no cluster"};
    }
    struct stat info{};
    if (::stat(file.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error{Errc::Refused,
                     "the cluster's secret " + file + " may be read by others: `chmod 600` it"};
    }
    const Result<std::optional<std::string>> text = read_whole_file(file, kMost);
    if (!text) {
        return Error{text.error().code, "the cluster's secret " + file + ": " + text.error().what};
    }
    if (!*text) {
        return Error{Errc::Refused, "the cluster's secret " + file + " is not there"};
    }
    const std::optional<HashSecret> secret = read_secret_digits(**text);
    if (!secret) {
        return Error{Errc::BadSyntax,
                     "the cluster's secret " + file + " must be 32 hexadecimal digits"};
    }
    return *secret;
}

}  // namespace sluice
