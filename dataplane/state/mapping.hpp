#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace sluice {

// A file that is mapped, for as long as this lives.
class Mapping {
public:
    // The target of stores: the file, or a copy that ends with the mapping.
    enum class Stores : bool { Kept, Private };

    // Made with that size, all of it there. An Error says why not, and nothing is left of it.
    [[nodiscard]] static Result<Mapping> make(const std::string& path, std::size_t bytes);
    // Opens it as it is. Where it cannot be written, stores are private. The Error is
    // Errc::Unreachable where the file may be good, and cannot be opened or mapped just now.
    [[nodiscard]] static Result<Mapping> open(const std::string& path, std::size_t bytes,
                                              Stores stores);
    Mapping(Mapping&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)},
          bytes_{other.bytes_},
          page_{other.page_},
          stores_{other.stores_} {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping();

    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t page_size() const noexcept { return page_; }
    [[nodiscard]] bool is_kept() const noexcept { return stores_ == Stores::Kept; }

private:
    Mapping(void* data, std::size_t bytes, std::size_t page, Stores stores) noexcept
        : data_{data}, bytes_{bytes}, page_{page}, stores_{stores} {}
    [[nodiscard]] static Result<Mapping> map(const std::string& path, int fd, std::size_t bytes,
                                             Stores stores);

    void* data_;
    std::size_t bytes_;
    std::size_t page_;
    Stores stores_;
};

// Why a file could not be dealt with, by errno.
[[nodiscard]] Error mapping_failed(const std::string& what, const std::string& path);

}  // namespace sluice
