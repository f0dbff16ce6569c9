-- block: library_packages
-- since: 0.1
-- summary: Top-level Python modules that count as libraries, not as user code.
--
-- The profiler writes a file without the sys.path folder that contains it: 'threading.py', or
-- 'transformers/utils/generic.py' for site-packages. So a library is recognised by its name. Names of the
-- standard library that scripts often have are left out (test, profile, code, trace, cmd). Model servers such as
-- vLLM and SGLang are left out too, because whoever profiles them works on them.
--
-- columns
--   name    type     unit  meaning
--   name    VARCHAR  key   First part of the path, without '.py'.
--   origin  VARCHAR  -     'standard library' or 'package'.
CREATE MACRO library_packages() AS TABLE
    SELECT
        unnest(t.names) AS name,
        t.origin
    FROM (
        VALUES
        (
            'standard library',
            [
                '__future__', '_abc', '_aix_support', '_ast', '_asyncio', '_bisect', '_blake2',
                '_bootsubprocess', '_bz2', '_codecs', '_codecs_cn', '_codecs_hk',
                '_codecs_iso2022', '_codecs_jp', '_codecs_kr', '_codecs_tw', '_collections',
                '_collections_abc', '_compat_pickle', '_compression', '_contextvars', '_crypt',
                '_csv', '_ctypes', '_curses', '_curses_panel', '_datetime', '_dbm', '_decimal',
                '_elementtree', '_frozen_importlib', '_frozen_importlib_external', '_functools',
                '_gdbm', '_hashlib', '_heapq', '_imp', '_io', '_json', '_locale', '_lsprof',
                '_lzma', '_markupbase', '_md5', '_msi', '_multibytecodec', '_multiprocessing',
                '_opcode', '_operator', '_osx_support', '_overlapped', '_pickle', '_posixshmem',
                '_posixsubprocess', '_py_abc', '_pydecimal', '_pyio', '_queue', '_random',
                '_scproxy', '_sha1', '_sha256', '_sha3', '_sha512', '_signal', '_sitebuiltins',
                '_socket', '_sqlite3', '_sre', '_ssl', '_stat', '_statistics', '_string',
                '_strptime', '_struct', '_symtable', '_thread', '_threading_local', '_tkinter',
                '_tokenize', '_tracemalloc', '_typing', '_uuid', '_warnings', '_weakref',
                '_weakrefset', '_winapi', '_zoneinfo', 'abc', 'aifc', 'annotationlib', 'argparse',
                'array', 'ast', 'asynchat', 'asyncio', 'asyncore', 'atexit', 'audioop', 'base64',
                'bdb', 'binascii', 'binhex', 'bisect', 'builtins', 'bz2', 'cProfile', 'calendar',
                'cgi', 'cgitb', 'chunk', 'cmath', 'codecs', 'codeop', 'collections', 'colorsys',
                'compileall', 'compression', 'concurrent', 'configparser', 'contextlib',
                'contextvars', 'copy', 'copyreg', 'crypt', 'csv', 'ctypes', 'curses',
                'dataclasses', 'datetime', 'dbm', 'decimal', 'difflib', 'dis', 'distutils',
                'doctest', 'email', 'encodings', 'ensurepip', 'enum', 'errno', 'faulthandler',
                'fcntl', 'filecmp', 'fileinput', 'fnmatch', 'fractions', 'ftplib', 'functools',
                'gc', 'genericpath', 'getopt', 'getpass', 'gettext', 'glob', 'graphlib', 'grp',
                'gzip', 'hashlib', 'heapq', 'hmac', 'html', 'http', 'imaplib', 'imghdr', 'imp',
                'importlib', 'inspect', 'io', 'ipaddress', 'itertools', 'json', 'keyword',
                'linecache', 'locale', 'logging', 'lzma', 'mailbox', 'mailcap', 'marshal', 'math',
                'mimetypes', 'mmap', 'modulefinder', 'msilib', 'msvcrt', 'multiprocessing',
                'netrc', 'nis', 'nntplib', 'nt', 'ntpath', 'nturl2path', 'numbers', 'opcode',
                'operator', 'optparse', 'os', 'ossaudiodev', 'pathlib', 'pdb', 'pickle',
                'pickletools', 'pipes', 'pkgutil', 'platform', 'plistlib', 'poplib', 'posix',
                'posixpath', 'pprint', 'pstats', 'pty', 'pwd', 'py_compile', 'pyclbr', 'pydoc',
                'pydoc_data', 'pyexpat', 'queue', 'quopri', 'random', 're', 'readline', 'reprlib',
                'resource', 'rlcompleter', 'runpy', 'sched', 'secrets', 'select', 'selectors',
                'shelve', 'shlex', 'shutil', 'signal', 'site', 'smtpd', 'smtplib', 'sndhdr',
                'socket', 'socketserver', 'spwd', 'sqlite3', 'sre_compile', 'sre_constants',
                'sre_parse', 'ssl', 'stat', 'statistics', 'string', 'stringprep', 'struct',
                'subprocess', 'sunau', 'symtable', 'sys', 'sysconfig', 'syslog', 'tabnanny',
                'tarfile', 'telnetlib', 'tempfile', 'termios', 'textwrap', 'threading', 'time',
                'timeit', 'tkinter', 'token', 'tokenize', 'tomllib', 'traceback', 'tracemalloc',
                'tty', 'types', 'typing', 'unicodedata', 'unittest', 'urllib', 'uu', 'uuid',
                'venv', 'warnings', 'wave', 'weakref', 'webbrowser', 'winreg', 'winsound',
                'wsgiref', 'xdrlib', 'xml', 'xmlrpc', 'zipapp', 'zipfile', 'zipimport', 'zlib',
                'zoneinfo'
            ]
        ),
        (
            'package',
            [
                '_pytest', 'absl', 'accelerate', 'aiohttp', 'albumentations', 'anyio', 'apex',
                'axolotl', 'bitsandbytes', 'boto3', 'botocore', 'bs4', 'click',
                'cloudpickle', 'colossalai', 'comet_ml', 'cupy', 'cv2', 'datasets', 'debugpy',
                'deepspeed', 'detectron2', 'dgl', 'diffusers', 'dill', 'einops', 'evaluate',
                'fairscale', 'fastai', 'fastapi', 'filelock', 'flash_attn', 'flashinfer', 'fsspec',
                'functorch', 'gpytorch', 'grpc', 'gym', 'gymnasium', 'h5py', 'habana_frameworks',
                'httpx', 'huggingface_hub', 'hydra', 'ignite', 'intel_extension_for_pytorch',
                'ipykernel', 'IPython', 'jax', 'joblib', 'kernels', 'kornia', 'liger_kernel',
                'lightning', 'lightning_fabric', 'lightning_utilities', 'litdata', 'lmdb', 'loguru',
                'matplotlib', 'megatron', 'mlflow', 'mmcv', 'mmdet', 'mmengine', 'monai',
                'networkx', 'nltk', 'numba', 'numpy', 'omegaconf', 'onnx', 'onnxruntime',
                'open_clip', 'optimum', 'optuna', 'pandas', 'peft', 'PIL', 'pkg_resources',
                'pluggy', 'psutil', 'pyarrow', 'pydantic', 'pytorch3d', 'pytorch_lightning', 'ray',
                'requests', 'rich', 's3fs', 'safetensors', 'scipy', 'seaborn',
                'sentence_transformers', 'sentencepiece', 'setuptools', 'sgl_kernel', 'skimage',
                'sklearn', 'spacy', 'stable_baselines3', 'starlette', 'sympy', 'tensorboard',
                'tensorboardX', 'tensordict', 'tensorflow', 'tiktoken', 'timm', 'tokenizers',
                'torch', 'torch_geometric', 'torch_npu', 'torch_scatter', 'torch_sparse',
                'torch_xla', 'torchao', 'torchaudio', 'torchdata', 'torchmetrics', 'torchrec',
                'torchrl', 'torchtext', 'torchtune', 'torchvision', 'tqdm', 'transformer_engine',
                'transformers', 'triton', 'trl', 'typer', 'ultralytics', 'unsloth', 'uvicorn',
                'uvloop', 'wandb', 'webdataset', 'xformers', 'xgrammar', 'yaml', 'zarr'
            ]
        )
    ) AS t (origin, names);
