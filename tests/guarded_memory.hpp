#pragma once
#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>

#include <sys/mman.h>
#include <ucontext.h>

namespace sluice::test {

// Memory as that is which outlives a process, with a guard that is called before each single store
// to it: while guarded it may only be read, so each store stops whoever makes it; then the one
// instruction is let through.
class GuardedMemory {
public:
    explicit GuardedMemory(std::size_t bytes)
        : bytes_{bytes},
          base_{
              ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {}
    ~GuardedMemory() { ::munmap(base_, bytes_); }
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    [[nodiscard]] void* base() const { return base_; }
    [[nodiscard]] std::size_t size() const { return bytes_; }
    void copy_from(const GuardedMemory& other) { std::memcpy(base_, other.base_, bytes_); }

    // `before_store` may read the memory, and must not write it.
    void run_guarded(const std::function<void()>& work, const std::function<void()>& before_store) {
        watched = this;
        before_store_ = &before_store;
        struct sigaction on_fault{};
        on_fault.sa_flags = SA_SIGINFO;
        on_fault.sa_sigaction = [](int, siginfo_t* fault, void* context) {
            watched->stopped(fault->si_addr, *static_cast<ucontext_t*>(context));
        };
        struct sigaction on_step{};
        on_step.sa_flags = SA_SIGINFO;
        on_step.sa_sigaction = [](int, siginfo_t*, void* context) {
            watched->stepped(*static_cast<ucontext_t*>(context));
        };
        struct sigaction fault_before{};
        struct sigaction step_before{};
        ::sigaction(SIGSEGV, &on_fault, &fault_before);
        ::sigaction(SIGTRAP, &on_step, &step_before);
        allow(PROT_READ);
        work();
        allow(PROT_READ | PROT_WRITE);
        ::sigaction(SIGSEGV, &fault_before, nullptr);
        ::sigaction(SIGTRAP, &step_before, nullptr);
    }

private:
    static constexpr greg_t kOneStep = 0x100;  // the trap flag
    static inline GuardedMemory* watched = nullptr;

    void allow(int what) { ::mprotect(base_, bytes_, what); }
    void stopped(void* address, ucontext_t& context) {
        const auto into =
            static_cast<std::size_t>(static_cast<char*>(address) - static_cast<char*>(base_));
        if (into >= bytes_) {
            (void)::signal(SIGSEGV, SIG_DFL);  // a fault of its own
            return;
        }
        (*before_store_)();
        allow(PROT_READ | PROT_WRITE);
        context.uc_mcontext.gregs[REG_EFL] |= kOneStep;
    }
    void stepped(ucontext_t& context) {
        allow(PROT_READ);
        context.uc_mcontext.gregs[REG_EFL] &= ~kOneStep;
    }

    std::size_t bytes_;
    void* base_;
    const std::function<void()>* before_store_ = nullptr;
};

}  // namespace sluice::test
