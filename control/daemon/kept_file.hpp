#pragma once
#include "lib/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// A file that is safe on the disk beside the one in force, and takes its place on commit(). Without
// it nothing has changed.
class PendingFile {
public:
    // Writes `text` whole beside `path`.
    [[nodiscard]] static Result<PendingFile> write(const std::string& path,
                                                   const std::string& text);
    PendingFile(PendingFile&& other) noexcept;
    PendingFile& operator=(PendingFile&&) = delete;
    ~PendingFile();

    [[nodiscard]] Result<Done> commit();

private:
    PendingFile(std::string from, std::string into);

    std::string from_;  // empty: committed, or moved away
    std::string into_;
};

// The whole text; nullopt: there is no such file.
[[nodiscard]] Result<std::optional<std::string>> read_kept_file(const std::string& path);
// A file that cannot be used is moved out of the way, not lost; the Error says where to.
[[nodiscard]] Error put_aside(const std::string& path, const std::string& why);

// FNV-1a as 16 digits: tells a damaged file, not a forged one.
[[nodiscard]] std::string sum_of(std::string_view text);

[[nodiscard]] Result<Done> rename_file(const std::string& from, const std::string& into);
// Gone already is good too.
[[nodiscard]] Result<Done> remove_file(const std::string& path);
// Makes what was created, renamed or removed beside `path` outlast a power cut.
[[nodiscard]] Result<Done> sync_folder_of(const std::string& path);

}  // namespace sluice
