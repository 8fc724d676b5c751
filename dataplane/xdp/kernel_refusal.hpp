#pragma once
#include "lib/base/result.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace sluice {

// By errno, right after the call that failed.
[[nodiscard]] inline Error kernel_refusal(const std::string& what) {
    return {Errc::NotSupported, "the kernel refuses " + what + ": " + std::strerror(errno)};
}

}  // namespace sluice
