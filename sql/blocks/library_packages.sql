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
                '_distutils_hack', '_pytest', 'absl', 'accelerate', 'aiohttp', 'albumentations',
                'anyio', 'apex', 'attr', 'attrs', 'av', 'axolotl', 'beartype', 'bitsandbytes',
                'boto3', 'botocore', 'botorch', 'braceexpand', 'bs4', 'certifi',
                'charset_normalizer', 'chex', 'clearml', 'click', 'cloudpickle', 'colossalai',
                'comet_ml', 'ctranslate2', 'cupy', 'cv2', 'cytoolz', 'dask', 'datasets',
                'dateutil', 'debugpy', 'decord', 'deepspeed', 'detectron2', 'dgl',
                'diffusers', 'dill', 'dvclive', 'e3nn', 'einops', 'equinox', 'evaluate',
                'fairscale', 'fairseq', 'fairseq2', 'faiss', 'fastai', 'fastapi', 'fastcore',
                'faster_whisper', 'fastprogress', 'filelock', 'flash_attn', 'flashinfer', 'flask',
                'flax', 'fsspec', 'ftfy', 'functorch', 'fvcore', 'gpytorch', 'gradio', 'grpc',
                'gym', 'gymnasium', 'h5py', 'habana_frameworks', 'haiku', 'horovod', 'httpx',
                'huggingface_hub', 'hydra', 'idna', 'ignite', 'imageio', 'imgaug',
                'importlib_metadata', 'intel_extension_for_pytorch', 'iopath', 'ipykernel',
                'IPython', 'jax', 'jaxtyping', 'jinja2', 'joblib', 'jsonschema', 'keras',
                'kernels', 'kornia', 'langchain', 'librosa', 'liger_kernel', 'lightning',
                'lightning_fabric', 'lightning_utilities', 'linear_operator', 'lion_pytorch',
                'litdata', 'llama_index', 'lm_eval', 'lmdb', 'loguru', 'lpips', 'lxml',
                'markupsafe', 'matplotlib', 'mediapipe', 'megatron', 'ml_dtypes', 'mlflow',
                'mmaction', 'mmcv', 'mmdet', 'mmengine', 'mmpose', 'mmpretrain', 'mmseg', 'monai',
                'more_itertools', 'moviepy', 'mpmath', 'msgpack', 'multidict', 'multiprocess',
                'nemo', 'networkx', 'nibabel', 'nltk', 'numba', 'numcodecs', 'numexpr',
                'numpy', 'nvidia', 'omegaconf', 'onnx', 'onnxruntime', 'open3d', 'open_clip',
                'openai', 'opt_einsum', 'optax', 'optimum', 'optuna', 'orbax', 'orjson',
                'packaging', 'pandas', 'peft', 'petastorm', 'PIL', 'pkg_resources',
                'pluggy', 'plum', 'polars', 'poptorch', 'prometheus_client', 'psutil', 'pyannote',
                'pyarrow', 'pycocotools', 'pycuda', 'pydantic', 'pydicom', 'pygments', 'pynvml',
                'pyro', 'pyspark', 'pytorch3d', 'pytorch_lightning', 'pytorch_metric_learning',
                'pytorch_optimizer', 'pytz', 'ray', 'rdkit', 'regex', 'requests', 'rfdetr',
                'rich', 'roboflow', 's3fs', 'sacrebleu', 'safetensors', 'schedulefree', 'scipy',
                'seaborn', 'segmentation_models_pytorch', 'sentence_transformers',
                'sentencepiece', 'setproctitle', 'setuptools', 'sgl_kernel', 'six', 'skimage',
                'sklearn', 'skorch', 'smart_open', 'soundfile', 'spacy', 'speechbrain',
                'stable_baselines3', 'starlette', 'super_gradients', 'sympy',
                'tabulate', 'tenacity', 'tensorboard', 'tensorboardX', 'tensordict', 'tensorflow',
                'tensorflow_datasets', 'tensorrt', 'tensorstore', 'termcolor', 'thop',
                'threadpoolctl', 'tianshou', 'tiktoken', 'timm', 'tokenizers', 'toolz', 'torch',
                'torch_cluster', 'torch_geometric', 'torch_npu', 'torch_scatter', 'torch_sparse',
                'torch_spline_conv', 'torch_tensorrt', 'torch_xla', 'torchao', 'torchaudio',
                'torchdata', 'torchinfo', 'torchmetrics', 'torchrec', 'torchrl', 'torchsummary',
                'torchtext', 'torchtune', 'torchvision', 'tornado', 'tqdm', 'traitlets',
                'transformer_engine', 'transformers', 'triton', 'trl', 'tvm', 'typeguard',
                'typer', 'typing_extensions', 'ultralytics', 'unsloth', 'urllib3', 'uvicorn',
                'uvloop', 'wandb', 'webdataset', 'wrapt', 'xformers', 'xgrammar', 'xxhash',
                'yacs', 'yaml', 'yarl', 'zarr', 'zmq', 'zstandard'
            ]
        )
    ) AS t (origin, names);
