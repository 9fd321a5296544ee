# scan.py: what the lines of an exported scan call.


def scan_row(x, t, heads, shared, group, part=0, parts=1):
    width = x.shape[-1] // int(parts)
    row = x[:, t, int(part) * width : (int(part) + 1) * width]
    if shared:
        return row[:, None].expand(-1, heads, -1)
    row = row.reshape(row.shape[0], heads // group, -1).repeat_interleave(group, 1)
    return row[..., 0] if row.shape[-1] == 1 else row


def scan_flat(x, heads):
    x = torch.as_tensor(x)
    return x.flatten(1) if x.dim() > 2 else x.expand(-1, heads)


def scan_fit(a, b):
    a, b = torch.as_tensor(a), torch.as_tensor(b)
    while a.dim() < b.dim():
        a = a[..., None]
    while b.dim() < a.dim():
        b = b[..., None]
    return a, b


def scan_add(a, b):
    a, b = scan_fit(a, b)
    return a + b


def scan_sub(a, b):
    a, b = scan_fit(a, b)
    return a - b


def scan_mul(a, b):
    a, b = scan_fit(a, b)
    return a * b


def scan_div(a, b):
    a, b = scan_fit(a, b)
    return a / b


def scan_max(a, b):
    return torch.maximum(*scan_fit(a, b))


def scan_min(a, b):
    return torch.minimum(*scan_fit(a, b))


def scan_select(c, a, b):
    a, b = scan_fit(a, b)
    c, a = scan_fit(c, a)
    c, b = scan_fit(c, b)
    return torch.where(c > 0, a, b)


def scan_vector(a):
    return a if a.dim() > 2 else a[..., None]


def scan_outer(a, b):
    return scan_vector(a)[..., :, None] * scan_vector(b)[..., None, :]


def scan_dot(a, b):
    return (scan_vector(a) * scan_vector(b)).sum(-1)


def scan_product(a, b):
    if a.dim() < 4:
        return (scan_vector(a)[..., None] * b).sum(-2)
    if b.dim() < 4:
        return (a * scan_vector(b)[..., None, :]).sum(-1)
    return a @ b


def scan_rows(a, b):
    return scan_vector(a)[..., None] * b


def scan_columns(a, b):
    return a * scan_vector(b)[..., None, :]


def scan_power(a, n):
    return torch.as_tensor(a) ** n


def scan_transpose(a):
    return a.transpose(-1, -2)


def scan_size(a):
    return scan_vector(a).shape[-1]


def scan_sum(a):
    return a.flatten(2).sum(-1) if a.dim() > 2 else a


def scan_exp(a):
    return torch.as_tensor(a).exp()


def scan_log(a):
    return torch.as_tensor(a).log()


def scan_sqrt(a):
    return torch.as_tensor(a).sqrt()


def scan_tanh(a):
    return torch.as_tensor(a).tanh()


def scan_sigmoid(a):
    return torch.as_tensor(a).sigmoid()


def scan_silu(a):
    return F.silu(torch.as_tensor(a))


def scan_softplus(a):
    return F.softplus(torch.as_tensor(a), threshold=50)


def scan_relu(a):
    return torch.as_tensor(a).relu()


def scan_abs(a):
    return torch.as_tensor(a).abs()


def scan_softmax(a):
    return scan_vector(a).softmax(-1)


def scan_unitnorm(a):
    square = scan_vector(a).square().sum(-1, keepdim=True)
    return scan_vector(a) * torch.where(square > 1e-24, square, 1).rsqrt() * (square > 1e-24)


def scan_rms(a):
    return scan_vector(a) * (scan_vector(a).square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def scan_layernorm(a):
    return scan_rms(scan_vector(a) - scan_vector(a).mean(-1, keepdim=True))
