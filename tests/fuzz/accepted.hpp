#pragma once
#include <cstddef>
#include <cstdio>

namespace sluice::test {

// Inputs that a target has taken for what they are to be, counted for `scripts/test fuzz`: of the
// seeds of a form that changes with the program, one at least has to be taken, or the fuzzer looks
// at nothing but its header.
class AcceptedInputs {
public:
    AcceptedInputs() = default;
    ~AcceptedInputs() { std::printf("accepted_inputs: %zu\n", count_); }
    AcceptedInputs(const AcceptedInputs&) = delete;
    AcceptedInputs& operator=(const AcceptedInputs&) = delete;

    void add(bool accepted = true) noexcept { count_ += accepted ? 1 : 0; }

private:
    std::size_t count_ = 0;
};

}  // namespace sluice::test
