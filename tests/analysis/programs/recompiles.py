"""Functions that are compiled again, each for another kind of cause."""

import enum

import torch

x = torch.ones(4, 4)
MANY = range(2, 6)


def compiled(function, **options):
    return torch.compile(function, backend="eager", **options)


def each(function, *arguments, **options):
    code = compiled(function, **options)
    for one in arguments:
        code(*one)


def value(x, name):
    return x * 2 if name.startswith("a") else x + 1


each(value, *((x, "a" * n) for n in MANY))


class Color(enum.Enum):
    A = 1
    B = 2
    C = 3


def member(x, e):
    return x * 2 if e is Color.A else x + 1


each(member, *((x, e) for e in Color))


class Config:
    def __init__(self, n):
        self.n = n


def beside(x, cfg, name):
    if name.startswith("a"):
        return x * cfg.n
    return x + cfg.n


each(beside, *((x, Config(n), "a" * (n + 1)) for n in range(4)))


class Key(torch.nn.Module):
    def __init__(self, key):
        super().__init__()
        self.key = key

    def forward(self, batch):
        return batch[self.key] * 2


batch = {str(n): x + n for n in MANY}
for n in MANY:
    compiled(Key(str(n)))(batch)


class Layer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, caches):
        return caches[self.index] * 2


for n in range(4):
    compiled(Layer(n))([x, x + 1, x + 2, x + 3])


class Steps(torch.nn.Module):
    step = 0

    def forward(self, x):
        return x * self.step


steps = Steps()
code = compiled(steps)
for steps.step in MANY:
    code(x)


def looped(x, n):
    for _ in range(n):
        x = x + 1
    return x


each(looped, *((x, n) for n in MANY))


def once(x, n):
    return x * n


each(once, *((x, n) for n in MANY))


def scaled(x):
    return x * SCALE


code = compiled(scaled)
for SCALE in MANY:
    code(x)


def static(x):
    return x * 2


each(static, *((torch.ones(n, 4),) for n in MANY), dynamic=False)


def sized(x):
    return x * 2


each(sized, *((torch.ones(n, 4),) for n in MANY))


def strided(x):
    return x * 2


each(strided, *((torch.ones(16, 16).as_strided((4, 4), (n + 4, 1)),) for n in MANY))


def typed(x, k):
    return x * k


each(typed, (x, 2), (x, 2.5), (x, torch.tensor(3)))


def precise(x):
    return x * 2


each(precise, (x,), (x.double(),), (x.half(),))


def optional(x, y):
    return x * 2 if y is None else x + y


each(optional, (x, None), (x, x + 1))


def keyed(d):
    return sum(d.values())


each(keyed, *(({"x": x, f"k{n}": x},) for n in MANY))


def measured(x, l):
    return x + len(l)


each(measured, *((x, [0] * n) for n in MANY))


def applied(x, f):
    return f(x)


each(applied, *((x, f) for f in (torch.sin, torch.cos, torch.tan)))


def of_class(x, k):
    return x * k.scale


each(of_class, *((x, type("K", (), {"scale": n})) for n in MANY))


def stepped(o):
    o.step()


p = torch.nn.Parameter(x.clone())
p.grad = torch.ones_like(p)
code = compiled(stepped)
for n in MANY:
    code(torch.optim.SGD([p], lr=0.1))


def moded(x):
    return x * 2


code = compiled(moded)
code(x)
with torch.no_grad():
    code(x)


def turned(x):
    return x * 2


code = compiled(turned)
code(x)
with torch.no_grad():
    code(x)
code(torch.ones(5, 4))
with torch.no_grad():
    code(torch.ones(6, 4))


def aliased(x, y):
    return x * 2 + y


each(aliased, (x, x + 1), (x, x))


def indexed(x, i):
    return x[i] * 2


each(indexed, *((x, torch.tensor(n % 4)) for n in MANY))


def backed(x):
    return x * 2


for _ in range(3):
    torch.compile(backed, backend=lambda graph, inputs: graph.forward)(x)
