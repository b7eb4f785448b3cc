"""Tools of the agent. Each function returns the text of the tool's result."""
import json as _json
import os as _os
import socket as _socket
import threading as _threading

_lock = _threading.Lock()
_process = _os.getpid()
_channel = None
_stream = None
__all__ = []


class ToolCallError(RuntimeError):
    """The call did not run."""


def _request(name, parameters):
    global _stream
    if _os.getpid() != _process:
        raise ToolCallError("hermes_tools works only in the script's own process")
    line = _json.dumps({"name": name, "input": parameters}, default=str)
    with _lock:
        if _stream is None:
            connection = _socket.socket(_socket.AF_UNIX)
            try:
                connection.connect(_channel["socket"])
            except OSError as error:
                raise ToolCallError("hermes_tools works only in the script's own process") from error
            _stream = connection.makefile("rw", encoding="utf-8", newline="\n")
            _stream.write(_json.dumps({"token": _channel["token"]}) + "\n")
        _stream.write(line + "\n")
        _stream.flush()
        answer = _stream.readline()
    if not answer:
        raise ToolCallError("the agent ended the connection")
    answer = _json.loads(answer)
    if "error" in answer:
        raise ToolCallError(answer["error"])
    return answer["text"]


def _function(name, parameters):
    def call(*args, **kwargs):
        if len(args) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} arguments ({', '.join(parameters)}), but got {len(args)}")
        for parameter, value in zip(parameters, args):
            if parameter in kwargs:
                raise TypeError(f"{name}() got two values for {parameter}")
            kwargs[parameter] = value
        return _request(name, {key: value for key, value in kwargs.items() if value is not None})

    call.__name__ = call.__qualname__ = name.replace("-", "_")
    return call


def _connect(channel, tools):
    global _channel, _stream
    _channel, _stream = channel, None
    functions = {name.replace("-", "_"): _function(name, parameters) for name, parameters in tools.items()}
    globals().update(functions)
    __all__[:] = [*functions, "ToolCallError"]
