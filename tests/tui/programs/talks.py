import sys
import time

print("\033[1;31mred\033[0m and plain")
for step in range(5):
    print(f"\rstep {step}", end="", flush=True)
print()
name = input("name? ")
print(f"hello {name}")
print("size", *__import__("os").get_terminal_size(), file=sys.stderr)
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
sys.exit(3)
