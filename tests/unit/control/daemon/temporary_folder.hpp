#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sluice {

// A folder that goes with the test.
class TemporaryFolder {
public:
    TemporaryFolder() {
        char name[] = "/tmp/sluice-daemon-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string operator/(const std::string& name) const {
        return path_ + "/" + name;
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file{*this / name, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream{*this / name, std::ios::binary} << text;
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator{path_}) {
            all.push_back(entry.path().filename().string());
        }
        return all;
    }

private:
    std::string path_;
};

}  // namespace sluice
