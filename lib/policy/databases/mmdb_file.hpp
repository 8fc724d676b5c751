#pragma once
#include "lib/base/result.hpp"

#include <string>
#include <string_view>

#include <maxminddb.h>

namespace sluice {

[[nodiscard]] Error broken_mmdb(const std::string& why);

// A file in MaxMind's format (MMDB), open in libmaxminddb. The library opens files by path only:
// the bytes lie in memory of their own, so that a file that others cut short meanwhile does no
// harm. The library follows pointers and nesting without a bound: a hostile file can end the
// process.
class MmdbFile {
public:
    // BadSyntax: the library refuses the file.
    [[nodiscard]] static Result<MmdbFile> open(std::string_view bytes);
    ~MmdbFile();
    MmdbFile(MmdbFile&& other) noexcept;
    MmdbFile(const MmdbFile&) = delete;
    MmdbFile& operator=(const MmdbFile&) = delete;
    MmdbFile& operator=(MmdbFile&&) = delete;

    [[nodiscard]] const MMDB_s& operator*() const noexcept { return mmdb_; }
    [[nodiscard]] const MMDB_s* operator->() const noexcept { return &mmdb_; }

private:
    explicit MmdbFile(const MMDB_s& mmdb) noexcept : mmdb_{mmdb} {}

    MMDB_s mmdb_;
    bool open_ = true;
};

}  // namespace sluice
