#pragma once
#include "lib/base/result.hpp"

#include <string_view>

#include <maxminddb.h>

namespace sluice {

[[nodiscard]] Error broken_mmdb(const std::string& why);

// A file in MaxMind's format (MMDB), open in libmaxminddb. That takes files by their path only: the
// bytes lie in memory of their own, so that a file that others cut short meanwhile ends nothing.
class MmdbFile {
public:
    // BadSyntax: it is none, or its description is not what readers can rely on.
    [[nodiscard]] static Result<MmdbFile> open(std::string_view bytes);
    ~MmdbFile();
    MmdbFile(MmdbFile&& other) noexcept;
    MmdbFile(const MmdbFile&) = delete;
    MmdbFile& operator=(const MmdbFile&) = delete;
    MmdbFile& operator=(MmdbFile&&) = delete;

    [[nodiscard]] const MMDB_s& operator*() const noexcept { return mmdb_; }
    [[nodiscard]] const MMDB_s* operator->() const noexcept { return &mmdb_; }
    // The section of values, which records point into.
    [[nodiscard]] std::string_view values() const noexcept {
        return {reinterpret_cast<const char*>(mmdb_.data_section), mmdb_.data_section_size};
    }

private:
    explicit MmdbFile(const MMDB_s& mmdb) noexcept : mmdb_{mmdb} {}

    MMDB_s mmdb_;
    bool open_ = true;
};

}  // namespace sluice
