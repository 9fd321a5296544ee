def read(path):
    """A checkpoint of seqmix (safetensors): its weights by name."""
    with open(path, 'rb') as file:
        size = struct.unpack('<Q', file.read(8))[0]
        header, start = json.loads(file.read(size)), 8 + size
        bytes_ = file.read()
    weights = {}
    for name, part in header.items():
        if name == '__metadata__' or part['dtype'] != 'F32' or name not in NAMES:
            continue
        first, last = part['data_offsets']
        data = torch.frombuffer(bytearray(bytes_[first:last]), dtype=torch.float32)
        weights[name] = data.reshape(part['shape'])
    return weights


def _norm(x, w, name):
    if NORM == 'none':
        return x
    if NORM == 'layer':
        return F.layer_norm(x, x.shape[-1:], w[name + '.gain'], w[name + '.bias'], 1e-5)
    if NORM == 'batch':
        x = (x - w[name + '.mean'].detach()) * (w[name + '.variance'].detach() + 1e-5).rsqrt()
        return x * w[name + '.gain'] + w[name + '.bias']
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w[name + '.gain']


class Model(torch.nn.Module):
    """The model of a checkpoint: inputs [B][L] tokens or [B][L][channels] values; logits, a row each (PER_ROW) or one."""

    def __init__(self, path):
        super().__init__()
        self.names = {}
        for name, value in read(path).items():
            self.names[name] = name.replace('.', '__')
            self.register_parameter(self.names[name], torch.nn.Parameter(value))

    def forward(self, inputs):
        w = {name: getattr(self, attribute) for name, attribute in self.names.items()}
        if 'embedding' in w:
            x = w['embedding'][inputs]
        else:
            x = inputs @ w['input_w'] + w['input_bias']
        length, width = x.shape[1:]
        if POSITION == 'learned':
            x = x + w['position'][:length]
        if POSITION == 'sinusoidal':
            at = torch.arange(length).double()[:, None]
            angle = at * 10000 ** (-(torch.arange(width) // 2 * 2).double() / width)
            x = x + torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos()).to(x)
        for i in range(BLOCKS):
            block = f'block{i}.'
            own = {name[len(block) :]: value for name, value in w.items() if name.startswith(block)}
            y = mixer(_norm(x, own, 'norm_1'), {name[6:]: v for name, v in own.items() if name.startswith('mixer.')})
            x = x + y if RESIDUAL else y
            if 'mlp.w_1' in own:
                h = _norm(x, own, 'norm_2') @ own['mlp.w_1'] + own['mlp.b_1']
                h = F.gelu(h, approximate='tanh') if ACTIVATION == 'gelu' else F.silu(h)
                x = x + h @ own['mlp.w_2'] + own['mlp.b_2']
        x = _norm(x, w, 'norm')
        if not PER_ROW:
            x = {'mean': x.mean(1), 'max': x.max(1)[0], 'last': x[:, -1], 'first': x[:, 0]}[POOLING]
        return x @ w['head'] + w['head_bias']


if __name__ == '__main__':
    # Logits of the inputs (JSON, one sequence) that stand on standard input.
    model = Model(sys.argv[1])
    inputs = torch.tensor(json.load(sys.stdin))
    with torch.no_grad():
        print(json.dumps(model(inputs[None])[0].tolist()))
