#pragma once
#include <filesystem>
#include <string>

#include <unistd.h>

namespace sluice::test {

// A name for a folder of this process in memory, where there is such a place: what is written into
// it by the thousand waits for no disk. What an earlier process has left there is removed.
[[nodiscard]] inline std::string memory_folder(const std::string& name) {
    namespace fs = std::filesystem;
    const fs::path in =
        fs::is_directory("/dev/shm") ? fs::path{"/dev/shm"} : fs::temp_directory_path();
    const fs::path folder = in / (name + "_" + std::to_string(::getpid()));
    fs::remove_all(folder);
    return folder;
}

}  // namespace sluice::test
