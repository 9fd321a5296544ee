"""checkpoint.py: a checkpoint of seqmix (safetensors), and what of its config is rebuilt here."""
import json
import struct
import urllib.parse

import torch


def read(path):
    """The config, a dict of texts, and the weights, a dict of tensors."""
    try:
        with open(path, 'rb') as file:
            data = file.read()
        (size,) = struct.unpack_from('<Q', data)
        header = json.loads(data[8 : 8 + size])
        config = dict(urllib.parse.parse_qsl(header.pop('__metadata__')['config'], keep_blank_values=True))
        weights = {}
        for name, t in header.items():
            if ':' in name:
                continue  # the optimiser's
            begin, end = (8 + size + at for at in t['data_offsets'])
            values = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
            weights[name] = values.reshape(t['shape'])
    except OSError as error:
        raise SystemExit(f'{path} cannot be read: {error.strerror}')
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError, struct.error):
        raise SystemExit(f'{path} is not rebuilt here: it must be a whole checkpoint of seqmix (safetensors)')
    choice(config, 'v', '1')
    return config, weights


def choice(config, key, *allowed):
    """The value of a key; whatever else than `allowed` is refused."""
    value = config.get(key, '')
    if value in allowed:
        return value
    names = f"one of {', '.join(allowed)}" if len(allowed) > 1 else allowed[0]
    raise SystemExit(f'{key}={value} is not rebuilt here: it must be {names}')


def part(weights, prefix):
    """The weights whose names begin with `prefix`, without it."""
    return {name[len(prefix) :]: t for name, t in weights.items() if name.startswith(prefix)}
